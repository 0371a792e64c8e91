import { isIP } from 'node:net';
import { isInternalAddress } from './address-guard.js';

/** Names that always mean the machine itself (RFC 6761). */
const LOOPBACK_NAME = /(^|\.)localhost\.?$/;
/** Names that no DNS ever resolves (RFC 6761, RFC 7686). */
const UNRESOLVABLE_NAME = /(^|\.)(invalid|onion)\.?$/;
/**
 * Names that only a private network resolves: those with one label, or below a top level that is reserved for such
 * networks.
 */
const PRIVATE_NAME = /^[^.]*\.?$|\.(local|internal|test|home\.arpa)\.?$/;
/** Limits of DNS names: labels of 1 to 63 characters, 253 in total. */
const DNS_NAME =
  /^(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.?$/;
/** Written in full: a parser would accept other spellings, and drop white space inside. */
const PLAIN_URL = /^https?:\/\/[^\s\\/][^\s\\]*$/i;

/**
 * Returns why messages cannot be sent to this URL, as the end of the sentence "expected …"; undefined when they can.
 * The address behind a name is known only when a connection is opened, and is checked then, every time.
 */
export function endpointUrlProblem(
  text: string,
  { allowPrivate }: { allowPrivate: boolean },
): string | undefined {
  if (!PLAIN_URL.test(text)) return 'a URL that begins with https:// or http://';
  if (!URL.canParse(text)) return 'a URL with a host and, if any, a port from 1 to 65535';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || authorityOf(text).includes('@')) {
    return 'a URL without credentials';
  }
  if (text.includes('#')) return 'a URL without a fragment';
  if (url.port === '0') return 'a URL with a port from 1 to 65535';
  const host = hostOf(url);
  const isName = isIP(host) === 0;
  if (isName && (UNRESOLVABLE_NAME.test(host) || !DNS_NAME.test(host)))
    return 'a host name that DNS can resolve';
  if (allowPrivate) return undefined;
  const isInternal = isName ? LOOPBACK_NAME.test(host) || PRIVATE_NAME.test(host) : isInternalAddress(host);
  return isInternal
    ? 'a public address (the operator can allow internal ones with TOLLGATE_WEBHOOK_ALLOW_PRIVATE=1)'
    : undefined;
}

/** The name or IP address of a URL. */
export function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

function authorityOf(text: string): string {
  return text.replace(/^[^/]*\/\//, '').split(/[/?#]/, 1)[0] ?? '';
}
