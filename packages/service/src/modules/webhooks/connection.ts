import { lookup, Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { connect as connectTcp, isIP, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { unlessAborted } from '../../platform/wait.js';
import { isInternalAddress } from './address-guard.js';
import { hostOf } from './endpoint-url.js';

/** How often, and with which timeout, a name server is asked; both fit into the time of an attempt. */
const DNS_TRIES = 2;
const DNS_TIMEOUT_MS = 1_500;
/** Timeout of one of several addresses before the next is tried. */
const ADDRESS_TIMEOUT_MS = 1_000;

/** Why there was no response, as a tenant is shown it. */
export type ConnectFailure = 'address_refused' | 'name_not_resolved' | 'connection_failed' | 'tls_failed';

export class ConnectError extends Error {
  override readonly name = 'ConnectError';

  constructor(
    readonly failure: ConnectFailure,
    cause?: unknown,
  ) {
    super(failure, { cause });
  }
}

export interface Connector {
  /**
   * Opens a connection to an allowed address; nothing but a TLS handshake has been sent over it.
   * @throws ConnectError, or the reason of `signal`
   */
  open(url: URL, signal: AbortSignal): Promise<Socket>;
}

export interface ConnectorOptions {
  readonly allowPrivate: boolean;
  /** Returns the IP addresses of a name; default: a DNS look-up. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
  /** Default: node:net. */
  readonly connect?: (options: TcpNetConnectOpts) => Socket;
  /** Certificates to trust instead of the usual ones, PEM. */
  readonly ca?: string;
}

/**
 * Connects to the host of a tenant's URL, and never to an internal address. The addresses of the name are filtered, the
 * connection is made to the allowed ones only, and its address is checked again before a byte is written. Every call
 * resolves the name again, so an earlier result is never trusted; proxies of the environment are not used.
 */
export function createConnector({ allowPrivate, ca, ...options }: ConnectorOptions): Connector {
  const resolve = options.resolve ?? (allowPrivate ? resolveLikeTheSystem : resolveByNameServers);
  const connect = options.connect ?? connectTcp;
  const isAllowed = (address: string) => allowPrivate || !isInternalAddress(address);

  async function addressesOf(host: string): Promise<readonly string[]> {
    const addresses = isIP(host) === 0 ? await resolveName(resolve, host) : [host];
    const allowed = addresses.filter(isAllowed);
    if (allowed.length === 0) throw new ConnectError('address_refused');
    return allowed;
  }

  async function openTcp(url: URL, signal: AbortSignal): Promise<Socket> {
    signal.throwIfAborted();
    const host = hostOf(url);
    const addresses = await unlessAborted(addressesOf(host), signal);
    const found = addresses.map((address) => ({ address, family: isIP(address) }));
    const socket = connect({
      host,
      port: Number(url.port || (url.protocol === 'https:' ? 443 : 80)),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
      // Pinned: the name is not looked up again.
      lookup: (_host, _options, callback) => callback(null, found),
    });
    await opened(socket, 'connect', 'connection_failed', signal);
    if (!isAllowed(socket.remoteAddress ?? '')) {
      socket.destroy();
      throw new ConnectError('address_refused');
    }
    return socket;
  }

  return {
    async open(url, signal) {
      const socket = await openTcp(url, signal);
      if (url.protocol !== 'https:') return socket;
      const host = hostOf(url);
      const secured = connectTls({
        socket,
        host,
        ...(isIP(host) === 0 ? { servername: host } : {}),
        ...(ca === undefined ? {} : { ca }),
        ALPNProtocols: ['http/1.1'],
      });
      await opened(secured, 'secureConnect', 'tls_failed', signal);
      return secured;
    },
  };
}

async function opened(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  failure: ConnectFailure,
  signal: AbortSignal,
): Promise<void> {
  // The user of the socket gets its errors; between two users, an error without a listener would end the process.
  socket.on('error', () => {});
  try {
    await once(socket, event, { signal });
  } catch (error) {
    socket.destroy();
    signal.throwIfAborted();
    throw new ConnectError(failure, error);
  }
}

async function resolveName(
  resolve: (name: string) => Promise<readonly string[]>,
  name: string,
): Promise<readonly string[]> {
  try {
    return await resolve(name);
  } catch (error) {
    throw new ConnectError('name_not_resolved', error);
  }
}

/**
 * Asks name servers only, because the system's own look-up blocks one of the few threads that file access also needs.
 */
async function resolveByNameServers(name: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (addresses.length > 0) return addresses;
  throw answers.find((answer) => answer.status === 'rejected')?.reason;
}

/** Also resolves names that only this machine knows: of containers, and of its hosts file. */
async function resolveLikeTheSystem(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}
