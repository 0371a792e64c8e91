import { Agent } from 'node:http';
import type { Stripe } from 'stripe';

/** The paths of the sandbox begin so, those of its API and those of its pages. */
export const SANDBOX_PREFIX = '/sandbox';

/**
 * Leads Stripe's library to the sandbox of this process, over HTTP.
 *
 * @param selfUrl where this process listens; asked for each request, as the port may not be known before
 */
export function sandboxHttpClient(selfUrl: () => string) {
  return (library: typeof Stripe): Stripe.HttpClient => {
    const client = library.createNodeHttpClient(new Agent({ keepAlive: false }));
    return {
      getClientName: () => client.getClientName(),
      // Async, because the library takes what is thrown here for something nobody waits for.
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
