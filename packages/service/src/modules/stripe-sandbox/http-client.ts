import { Agent } from 'node:http';
import type { Stripe } from 'stripe';

/** The paths of the sandbox's API and pages begin with this. */
export const SANDBOX_PREFIX = '/sandbox';

/**
 * Directs Stripe's library to the sandbox of this process, over HTTP.
 *
 * @param selfUrl returns where this process listens; called for each request, because the port may not be known before
 */
export function sandboxHttpClient(selfUrl: () => string) {
  return (library: typeof Stripe): Stripe.HttpClient => {
    const client = library.createNodeHttpClient(new Agent({ keepAlive: false }));
    return {
      getClientName: () => client.getClientName(),
      // Async, because the library does not handle errors that are thrown synchronously.
      async makeRequest(_host, _port, path, method, headers, data, _protocol, timeoutMs) {
        const { hostname, port } = new URL(selfUrl());
        const host = hostname.replace(/^\[|\]$/g, '');
        return client.makeRequest(
          host,
          port,
          SANDBOX_PREFIX + path,
          method,
          headers,
          data,
          'http',
          timeoutMs,
        );
      },
    };
  };
}
