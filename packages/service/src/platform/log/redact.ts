/** Replaces a secret. */
const REDACTED = '[redacted]';

/** API keys, anywhere in a text. */
const API_KEY = /tg_(?:live|test)_[0-9A-Za-z]+(?:_[0-9A-Za-z]+)?/g;
/** Secrets that sign webhooks. */
const WEBHOOK_SECRET = /whsec_[A-Za-z0-9+/=]+/g;
/** Credentials of a header or a URL in a text. */
const BEARER = /\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi;
const URL_PASSWORD = /(\/\/[^:/@\s]*):[^@/\s]+@/g;
const SECRET_NAME =
  /^(?:authorization|cookie|set-cookie|password|secret|token|key|api_?key|service_?key)$|_secret$|Secret$/i;

/** Returns the text without API keys, bearer tokens and passwords of URLs. */
function redactText(text: string): string {
  return text
    .replace(API_KEY, `tg_${REDACTED}`)
    .replace(WEBHOOK_SECRET, `whsec_${REDACTED}`)
    .replace(BEARER, `$1 ${REDACTED}`)
    .replace(URL_PASSWORD, `$1:${REDACTED}@`);
}

/** Returns a copy of a JSON value without secrets: neither in its strings, nor in fields with the name of a secret. */
export function redact(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(redact);
  const entries = Object.entries(value).map(([name, field]) => [
    name,
    SECRET_NAME.test(name) ? REDACTED : redact(field),
  ]);
  return Object.fromEntries(entries);
}
