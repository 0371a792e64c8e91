import type { AddressInfo } from 'node:net';
import type { App } from '../platform/http/index.js';

/** Who uses the service's URL: people on this machine, or the process itself. */
export type UrlAudience = 'people' | 'itself';

const ANY_ADDRESS: Readonly<Record<string, Record<UrlAudience, string>>> = {
  '0.0.0.0': { people: 'localhost', itself: '127.0.0.1' },
  '::': { people: 'localhost', itself: '[::1]' },
};

/**
 * Returns the URL at which the application listens.
 *
 * @throws Error while it does not listen
 */
export function ownUrl(app: App, asker: UrlAudience): string {
  const bound = app.server.address() as AddressInfo | null;
  if (bound === null) throw new Error('The service does not listen yet.');
  const { address, family, port } = bound;
  const host = ANY_ADDRESS[address]?.[asker] ?? (family === 'IPv6' ? `[${address}]` : address);
  return `http://${host}:${port}`;
}
