const COLOURS: Readonly<Record<string, string>> = {
  trace: '\x1b[90m',
  debug: '\x1b[90m',
  info: '\x1b[32m',
  warn: '\x1b[33m',
  error: '\x1b[31m',
  fatal: '\x1b[31m',
};
const RESET = '\x1b[0m';
const DIM = '\x1b[90m';

/** The fields of an entry, as in a JSON line. */
export type LogEntry = Readonly<Record<string, unknown>>;

/** Formats an entry as one line for people: time, level, message, then the fields. A stack follows on its own lines. */
export function humanLine({ time, level, msg, err, ...fields }: LogEntry): string {
  const name = String(level);
  const head = `${DIM}${String(time).slice(11, 23)}${RESET} ${COLOURS[name] ?? ''}${name.toUpperCase().padEnd(5)}${RESET}`;
  const shown = Object.entries(fields).map(([key, value]) => `${key}=${plain(value)}`);
  const tail = shown.length === 0 ? '' : ` ${DIM}${shown.join(' ')}${RESET}`;
  return `${head} ${visible(String(msg ?? ''))}${tail}\n${errorLines(err)}`;
}

function errorLines(err: unknown): string {
  if (err === undefined) return '';
  const { stack, message } = err as { stack?: string; message?: string };
  const text = stack || message || plain(err);
  return `${text
    .split('\n')
    .map((line) => `  ${visible(line)}`)
    .join('\n')}\n`;
}

function plain(value: unknown): string {
  return visible(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Escapes control characters, so that they do not reach the terminal. */
function visible(text: string): string {
  return text.replace(
    /[\p{Cc}]/gu,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}
