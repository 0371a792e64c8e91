import { isIP } from 'node:net';
import { isInternalAddress } from './address-guard.js';

/** Names that always mean the machine itself (RFC 6761). */
const LOOPBACK_NAME = /(^|\.)localhost\.?$/;
/** Written in full: a parser would take other spellings, and drop white space from within. */
const PLAIN_URL = /^https?:\/\/[^\s\\/][^\s\\]*$/i;

/**
 * Why messages cannot go to this URL, ending the sentence "expected …"; undefined when they can. What a name leads to is seen
 * only when it is connected to, and checked then, every time.
 */
export function endpointUrlProblem(
  text: string,
  { allowPrivate }: { allowPrivate: boolean },
): string | undefined {
  const url = PLAIN_URL.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return 'a URL that begins with https:// or http://';
  if (url.username !== '' || url.password !== '' || authorityOf(text).includes('@')) {
    return 'a URL without credentials';
  }
  if (text.includes('#')) return 'a URL without a fragment';
  if (allowPrivate) return undefined;
  const host = hostOf(url);
  const isInternal = isIP(host) === 0 ? LOOPBACK_NAME.test(host) : isInternalAddress(host);
  return isInternal ? 'an address that is not internal' : undefined;
}

/** The name or IP address of a URL. */
export function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

function authorityOf(text: string): string {
  return text.replace(/^[^/]*\/\//, '').split(/[/?#]/, 1)[0] ?? '';
}
