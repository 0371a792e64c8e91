import { type Logger as PinoLogger, pino } from 'pino';
import { humanLine, type LogEntry } from './human.js';
import { redact } from './redact.js';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type Logger = PinoLogger;

export interface LogOptions {
  readonly level: LogLevel;
  /** The stream of the lines; by default standard output. */
  readonly destination?: NodeJS.WritableStream & { isTTY?: boolean };
}

/**
 * Creates the service's logger: JSON lines for machines, one readable line per entry on a terminal. Secrets are removed
 * from the finished entry, so it does not matter how they got in: by message, field, child, error or cause.
 */
export function createLog({ level, destination = process.stdout }: LogOptions): Logger {
  const toLine = destination.isTTY === true ? humanLine : jsonLine;
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => void destination.write(toLine(redact(JSON.parse(line)) as LogEntry)) },
  );
}

function jsonLine(entry: LogEntry): string {
  return `${JSON.stringify(entry)}\n`;
}
