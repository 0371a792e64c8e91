/** Where the build leaves room for the nonce of one answer. */
const NONCE_PLACE = '__CSP_NONCE__';

/** Nothing but the console's own files runs, and nothing is loaded from or sent to another place. */
export function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    // The editor and the dialogs write small style sheets into the document; each names the nonce.
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

export function pageWithNonce(page: string, nonce: string): string {
  return page.replaceAll(NONCE_PLACE, nonce);
}
