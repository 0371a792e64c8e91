import { hostname } from 'node:os';
import { type Logger as PinoLogger, pino } from 'pino';
import { humanLine, type LogEntry } from './human.js';
import { redact } from './redact.js';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type Logger = PinoLogger;

export interface LogOptions {
  readonly level: LogLevel;
  /** The part of the service that logs, in each JSON line: its roles, separated by commas. */
  readonly role?: string;
  /** The stream of the lines; by default standard output. */
  readonly destination?: NodeJS.WritableStream & { isTTY?: boolean };
}

/**
 * Creates the service's logger: JSON lines for machines, with the name of the host, or one readable line per entry on a
 * terminal. Secrets are removed from the finished entry, so it does not matter how they got in: by message, field,
 * child, error or cause.
 */
export function createLog({ level, role, destination = process.stdout }: LogOptions): Logger {
  const isTerminal = destination.isTTY === true;
  const toLine = isTerminal ? humanLine : jsonLine;
  return pino(
    {
      level,
      base: isTerminal ? null : { host: hostname(), ...(role && { role }) },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => void destination.write(toLine(redact(JSON.parse(line)) as LogEntry)) },
  );
}

function jsonLine(entry: LogEntry): string {
  return `${JSON.stringify(entry)}\n`;
}
