/** What replaces a secret. */
export const REDACTED = '[redacted]';

/** API keys, wherever in a text they stand. */
const API_KEY = /tg_(?:live|test)_[0-9A-Za-z]+(?:_[0-9A-Za-z]+)?/g;
/** Credentials of a header or a URL that found its way into a text. */
const BEARER = /\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi;
const URL_PASSWORD = /(\/\/[^:/@\s]*):[^@/\s]+@/g;
const SECRET_NAME =
  /^(?:authorization|cookie|set-cookie|password|secret|token|key|api_?key|service_?key)$|_secret$|Secret$/i;

/** Depth to which logged objects are searched; deeper values are left out. */
const DEPTH_MAX = 6;

/** The text without API keys, bearer tokens and passwords of URLs. */
export function redactText(text: string): string {
  return text
    .replace(API_KEY, `tg_${REDACTED}`)
    .replace(BEARER, `$1 ${REDACTED}`)
    .replace(URL_PASSWORD, `$1:${REDACTED}@`);
}

/** A copy of what is to be logged, in which no string holds a secret and no secret field a value. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEPTH_MAX) return '[deep]';
  if (value instanceof Error) return redactError(value, depth);
  if (Array.isArray(value)) return value.map((entry) => redact(entry, depth + 1));
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  const copy: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) {
    copy[name] = SECRET_NAME.test(name) ? REDACTED : redact(field, depth + 1);
  }
  return copy;
}

function redactError(error: Error, depth: number): Record<string, unknown> {
  const { code } = error as NodeJS.ErrnoException;
  return {
    type: error.name,
    message: redactText(error.message),
    stack: redactText(error.stack ?? ''),
    ...(code === undefined ? {} : { code }),
    ...(error.cause === undefined ? {} : { cause: redact(error.cause, depth + 1) }),
  };
}
