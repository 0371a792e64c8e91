import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type Receiver, type Responder, startReceiver } from '../../testing/receiver.js';
import { createSender, type SenderOptions } from './sender.js';
import { TEST_TLS } from './tls.testing.js';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function receiver(
  answer?: Responder,
  options?: Parameters<typeof startReceiver>[1],
): Promise<Receiver> {
  const started = await startReceiver(answer, options);
  closers.push(() => started.close());
  return started;
}

const BODY = '{"type":"a","data":"ü"}';

/** Posts with these options; internal addresses are allowed unless they say otherwise. */
function send(url: string, options: Partial<SenderOptions> = {}, signal = new AbortController().signal) {
  const posting = { url, headers: { 'webhook-id': 'msg_1', 'content-type': 'application/json' }, body: BODY };
  return createSender({ allowPrivate: true, ...options })(posting, signal);
}

/** A port of this machine without a listener. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}

describe('posting', () => {
  it('sends the body and the headers to path and query, over a connection of its own', async () => {
    const { url, port, received } = await receiver();
    expect(await send(`${url}/%C3%BC?a=1&b=c%20d`)).toEqual({ status: 204 });
    expect(received).toMatchObject([
      {
        method: 'POST',
        path: '/hook/%C3%BC?a=1&b=c%20d',
        body: BODY,
        headers: {
          host: `127.0.0.1:${port}`,
          connection: 'close',
          'content-length': String(Buffer.byteLength(BODY)),
          'webhook-id': 'msg_1',
        },
      },
    ]);
  });

  it.each([200, 202, 299, 400, 410, 500, 503])('returns the status %i', async (status) => {
    expect(await send((await receiver(() => status)).url)).toEqual({ status });
  });

  it.each([301, 302, 303, 307, 308])('does not follow a redirect with %i', async (status) => {
    const target = await receiver();
    const { url } = await receiver((_received, response) => {
      response.writeHead(status, { location: target.url }).end();
      return undefined;
    });
    expect(await send(url)).toEqual({ status });
    expect(target.connections).toBe(0);
  });

  it('gives up an answer that does not come', async () => {
    const { url } = await receiver(() => undefined);
    expect(await send(url, { timeoutMs: 50 })).toEqual({ error: 'timeout' });
  });

  it('gives up a name whose addresses do not come', async () => {
    const resolve = () => new Promise<string[]>(() => {});
    expect(await send('http://a.example/', { resolve, timeoutMs: 50 })).toEqual({ error: 'timeout' });
  });

  it('gives up a TLS handshake that does not come', async () => {
    const server = createServer(() => {}).listen(0, '127.0.0.1');
    await once(server, 'listening');
    closers.push(async () => void server.close());
    const { port } = server.address() as AddressInfo;
    expect(await send(`https://127.0.0.1:${port}/`, { timeoutMs: 50 })).toEqual({ error: 'timeout' });
  });

  it.each<[string, Responder]>([
    ['endless', (_received, response) => void response.writeHead(200).write('x'.repeat(100_000))],
    ['stuck', (_received, response) => void response.writeHead(200).write('x')],
    ['torn', (_received, response) => void response.writeHead(200, { 'content-length': 9 }).end('x')],
  ])('takes the status of an answer whose body is %s', async (_kind, answer) => {
    const { url } = await receiver((received, response) => void answer(received, response));
    expect(await send(url, { timeoutMs: 2_000 })).toEqual({ status: 200 });
  });

  it.each([
    ['no HTTP', 'hello\r\n\r\n', 'no_answer: HPE_INVALID_CONSTANT'],
    ['nothing', '', 'no_answer: ECONNRESET'],
    ['headers without end', `HTTP/1.1 200 OK\r\na: ${'x'.repeat(20_000)}`, 'no_answer: HPE_HEADER_OVERFLOW'],
    ['another protocol', 'HTTP/1.1 101 x\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n', 'no_answer'],
  ])('reports a response that is %s', async (_kind, answer, error) => {
    const server = createServer((socket) => socket.on('error', () => {}).end(answer)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    closers.push(async () => void server.close());
    const { port } = server.address() as AddressInfo;
    expect(await send(`http://127.0.0.1:${port}/`)).toEqual({ error });
  });

  it('reports when nobody listens, or a name leads nowhere', async () => {
    const port = await freePort();
    expect(await send(`http://127.0.0.1:${port}/`)).toEqual({ error: 'connection_failed: ECONNREFUSED' });
    const resolve = async () => {
      throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    };
    expect(await send('http://a.example/', { resolve })).toEqual({ error: 'name_not_resolved: ENOTFOUND' });
  });

  it('is broken off when the caller says so', async () => {
    const { url } = await receiver(() => undefined);
    const abort = new AbortController();
    const sending = send(url, {}, abort.signal);
    abort.abort(new Error('ending'));
    await expect(sending).rejects.toThrow('ending');
  });

  it('over TLS, checks the certificate', async () => {
    const { port, received } = await receiver(() => 200, { tls: TEST_TLS });
    const resolve = async () => ['127.0.0.1'];
    const to = (name: string, ca?: string) =>
      send(`https://${name}:${port}/`, { resolve, ...(ca === undefined ? {} : { ca }) });
    expect(await to('hooks.example.com', TEST_TLS.cert)).toEqual({ status: 200 });
    expect(await to('hooks.example.com')).toEqual({ error: 'tls_failed: DEPTH_ZERO_SELF_SIGNED_CERT' });
    expect(await to('other.example.com', TEST_TLS.cert)).toEqual({
      error: 'tls_failed: ERR_TLS_CERT_ALTNAME_INVALID',
    });
    expect(received).toHaveLength(1);
  });
});

describe('an internal address', () => {
  const guarded = (url: string, addresses: readonly string[], more: Partial<SenderOptions> = {}) =>
    send(url, { allowPrivate: false, resolve: async () => addresses, ...more });

  it.each(['127.0.0.1', '0x7f.1', '2130706433', '127.1'])('is refused as %s', async (host) => {
    const { port, connections } = await receiver();
    expect(await send(`http://${host}:${port}/`, { allowPrivate: false })).toEqual({
      error: 'address_refused',
    });
    expect(connections).toBe(0);
  });

  it.each([
    [['127.0.0.1']],
    [['::1', '127.0.0.1']],
    [['169.254.169.254', '10.0.0.1', 'fd00:ec2::254']],
    [['::ffff:127.0.0.1']],
    [[]],
  ])('is refused behind a name: %j', async (addresses) => {
    const local = await receiver();
    const url = `http://rebound.example:${local.port}/`;
    expect(await guarded(url, addresses)).toEqual({ error: 'address_refused' });
    expect(local.connections).toBe(0);
  });

  it('is not what a name with public addresses, too, leads to', async () => {
    const asked: string[] = [];
    const outcome = await guarded('http://mixed.example/', ['127.0.0.1', '93.184.216.34', '::1'], {
      connect: (options) => {
        options.lookup?.('mixed.example', { all: true }, (_error, found) => {
          asked.push(...(found as { address: string }[]).map(({ address }) => address));
        });
        throw new Error('seen enough');
      },
    });
    expect(outcome).toEqual({ error: 'no_answer' });
    expect(asked).toEqual(['93.184.216.34']);
  });

  it('is refused when a name leads there the next time', async () => {
    const local = await receiver();
    const answers = [['93.184.216.34'], ['127.0.0.1']];
    const options: Partial<SenderOptions> = {
      allowPrivate: false,
      resolve: async () => answers.shift() ?? [],
      connect: () => {
        throw new Error('on its way to the public address');
      },
    };
    expect(await send(`http://rebinds.example:${local.port}/`, options)).toEqual({ error: 'no_answer' });
    expect(await send(`http://rebinds.example:${local.port}/`, options)).toEqual({
      error: 'address_refused',
    });
    expect(local.connections).toBe(0);
  });

  it.each(['http', 'https'])(
    'gets not a byte when a public one turns out to be it, over %s',
    async (scheme) => {
      const local = await receiver(() => 200, scheme === 'https' ? { tls: TEST_TLS } : {});
      const outcome = await guarded(`${scheme}://public.example/`, ['93.184.216.34'], {
        connect: () => connect(local.port, '127.0.0.1'),
      });
      expect(outcome).toEqual({ error: 'address_refused' });
      expect(local.bytes).toBe(0);
      expect(local.received).toEqual([]);
    },
  );

  it('is reached when that is allowed, by name and over IPv6', async () => {
    expect(await send((await receiver()).url.replace('127.0.0.1', 'localhost'))).toEqual({ status: 204 });
    const { url, received } = await receiver(undefined, { host: '::1' });
    expect(await send(url)).toEqual({ status: 204 });
    expect(received[0]?.headers.host).toBe(new URL(url).host);
  });
});

describe('a proxy of the environment', () => {
  it('is not used', async () => {
    const proxy = await receiver();
    const { url, received } = await receiver();
    const before = { ...process.env };
    for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'all_proxy'])
      process.env[name] = proxy.url;
    try {
      expect(await send(url)).toEqual({ status: 204 });
    } finally {
      process.env = before;
    }
    expect([proxy.connections, received.length]).toEqual([0, 1]);
  });
});
