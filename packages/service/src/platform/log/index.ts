export { createLog, LOG_LEVELS, type Logger, type LogLevel } from './log.js';
