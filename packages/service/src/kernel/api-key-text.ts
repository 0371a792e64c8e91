import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

export type ApiKeyMode = 'live' | 'test';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 27 × log2(62) = 160.8 random bits. */
const SECRET_CHARS = 27;
const CHECKSUM_CHARS = 6;
/**
 * The largest multiple of 62 that a byte can hold: larger bytes are drawn again, so that every character is equally
 * likely.
 */
const UNBIASED_BYTES = 248;
/** Longer secrets than ours are accepted as well-formed; text longer than any key is refused at once. */
const KEY_PATTERN = /^tg_(?:live|test)_[0-9A-Za-z]{27,86}_[0-9A-Za-z]{6}$/;

/**
 * Returns a new key: `tg_<mode>_<secret>_<checksum>`. It must be kept as secret as the data it opens; store only its
 * SHA-256.
 */
export function generateApiKey(mode: ApiKeyMode): string {
  const body = `tg_${mode}_${randomBase62(SECRET_CHARS)}`;
  return `${body}_${checksum(body)}`;
}

/**
 * Whether the text has the form and the checksum of a key. Finds mistyped and truncated keys without a look-up, and
 * says nothing about whether the key exists.
 */
export function isWellFormedApiKey(text: string): boolean {
  if (!KEY_PATTERN.test(text)) return false;
  const body = text.slice(0, -CHECKSUM_CHARS - 1);
  return text.endsWith(`_${checksum(body)}`);
}

/** CRC-32 (IEEE) in base 62, padded to the length of the largest one. */
function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  while (text.length < CHECKSUM_CHARS) {
    text = BASE62.charAt(rest % BASE62.length) + text;
    rest = Math.floor(rest / BASE62.length);
  }
  return text;
}

function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length - text.length)) {
      if (byte < UNBIASED_BYTES) text += BASE62.charAt(byte % BASE62.length);
    }
  }
  return text;
}
