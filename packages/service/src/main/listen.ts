import { createServer } from 'node:net';
import type { Config } from '../config.js';
import type { App } from '../platform/http/index.js';
import { ownUrl } from './own-url.js';
import { StartError } from './start-error.js';

/** Reports a used port at once; listening would report it only after the stores have started. */
export function checkPort({ host, port }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error) => reject(listenError(error, host, port)));
    probe.listen({ host, port }, () => probe.close(() => resolve()));
  });
}

/** Starts to listen; returns the URL for people. */
export async function listen(app: App, { host, port }: Config): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw listenError(error as Error, host, port);
  }
  return ownUrl(app, 'people');
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): StartError {
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} of ${host} is taken; set PORT to a free one.`,
    EACCES: `Port ${port} of ${host} may not be used by this account; set PORT to one above 1023.`,
    EADDRNOTAVAIL: `${host} is not an address of this machine; set HOST to one that is.`,
    ENOTFOUND: `${host} is not a known host; set HOST to an address of this machine.`,
  };
  return new StartError(reasons[error.code ?? ''] ?? `Cannot listen on ${host}:${port}: ${error.message}.`);
}
