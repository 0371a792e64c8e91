import { type Logger as PinoLogger, pino } from 'pino';
import { humanLine } from './human.js';
import { redact, redactText } from './redact.js';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type Logger = PinoLogger;

export interface LogOptions {
  readonly level: LogLevel;
  /** Where lines go; default standard output. */
  readonly destination?: NodeJS.WritableStream & { isTTY?: boolean };
}

/**
 * The service's logger: JSON lines for machines, one readable line per entry on a terminal. Keys, bearer tokens and
 * passwords are removed from every entry, whoever wrote it.
 */
export function createLog({ level, destination = process.stdout }: LogOptions): Logger {
  const human = destination.isTTY === true;
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: (error: unknown) => error },
      formatters: {
        level: (label) => ({ level: label }),
        bindings: (bindings) => redact(bindings) as Record<string, unknown>,
        log: (fields) => redact(fields) as Record<string, unknown>,
      },
      hooks: {
        logMethod(args, method) {
          method.apply(
            this,
            args.map((arg) => (typeof arg === 'string' ? redactText(arg) : arg)) as typeof args,
          );
        },
      },
    },
    { write: (line: string) => void destination.write(human ? humanLine(line) : line) },
  );
}
