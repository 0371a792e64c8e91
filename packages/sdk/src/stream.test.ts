import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from 'vitest';
import { TollgateClient } from './client.js';
import { ApiError, ConnectionError } from './errors.js';

const RANGE = { from: 1, to: 2, format: 'csv' } as const;

let server: Server | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve));
});

/** Reads the export of a server that responds in this way. */
async function exportFrom(answer: (response: ServerResponse, url: string) => void, timeoutMs = 5_000) {
  return (await projectOf(answer, timeoutMs)).usage.exportEvents(RANGE);
}

/** A client of a server that responds in this way. */
async function projectOf(answer: (response: ServerResponse, url: string) => void, timeoutMs = 5_000) {
  server = createServer((request, response) => answer(response, request.url ?? ''));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new TollgateClient({ baseUrl, apiKey: 'tg_test_key', timeoutMs });
  return client.project('prj_1');
}

/** Collects garbage, as happens at any time: by it, `fetch` forgets the signal of a response that is being read. */
async function collectGarbage() {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of chunks) text += decoder.decode(chunk, { stream: true });
  return text;
}

describe('an export', () => {
  it('is read to its end', async () => {
    const url: string[] = [];
    const chunks = await exportFrom((response, asked) => {
      url.push(asked);
      response.write('a,b\n');
      response.end('1,2\n');
    });
    expect(await textOf(chunks)).toBe('a,b\n1,2\n');
    expect(url).toEqual(['/v1/projects/prj_1/usage/events/export?from=1&to=2&format=csv']);
  });

  it('may be empty', async () => {
    expect(await textOf(await exportFrom((response) => response.end()))).toBe('');
  });

  it('that breaks off is a ConnectionError, after what had come', async () => {
    const chunks = await exportFrom((response) => {
      response.write('a,b\n', () => response.socket?.resetAndDestroy());
    });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const chunk of chunks) seen.push(new TextDecoder().decode(chunk));
    })();
    await expect(reading).rejects.toBeInstanceOf(ConnectionError);
    expect('a,b\n'.startsWith(seen.join(''))).toBe(true);
  });

  it('that is refused is an ApiError', async () => {
    const chunks = await exportFrom((response) => {
      response.writeHead(429, { 'retry-after': '3' });
      response.end('{"error": "too many", "code": "concurrency_limit_reached"}');
    });
    const error = await textOf(chunks).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 429, code: 'concurrency_limit_reached', retryAfterS: 3 });
  });

  it('that does not begin in time is a ConnectionError', async () => {
    await expect(textOf(await exportFrom(() => {}, 100))).rejects.toBeInstanceOf(ConnectionError);
  });

  it('ends at the service when it is read no further', async () => {
    let left: Promise<unknown> | undefined;
    const chunks = await exportFrom((response) => {
      left = once(response, 'close');
      response.write('a,b\n');
    });
    for await (const _chunk of chunks) break;
    await left;
  });
});

describe('a response that stalls', () => {
  it('ends when the caller aborts a stream of it', async () => {
    let left: Promise<unknown> | undefined;
    const project = await projectOf((response) => {
      left = once(response, 'close');
      response.write('event: ready\ndata: {}\n\n');
    });
    const abort = new AbortController();
    const messages = project.analysis.follow({ chart_id: ['chr_1'] }, { signal: abort.signal });
    expect(await messages.next()).toMatchObject({ value: { type: 'ready' } });
    const next = messages.next();
    await collectGarbage();
    abort.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
    await left;
  });

  it('ends when the caller aborts the request', async () => {
    let begun = () => {};
    const began = new Promise<void>((resolve) => {
      begun = resolve;
    });
    let left: Promise<unknown> | undefined;
    const project = await projectOf((response) => {
      left = once(response, 'close');
      response.write('{', begun);
    });
    const abort = new AbortController();
    const events = project.usage.events({}, { signal: abort.signal });
    await began;
    await collectGarbage();
    abort.abort(new Error('enough'));
    await expect(events).rejects.toThrow('enough');
    await left;
  });

  it('is a ConnectionError after the timeout', async () => {
    const project = await projectOf((response) => response.write('{'), 300);
    const events = project.usage.events().catch((error: unknown) => error);
    await collectGarbage();
    expect(await events).toBeInstanceOf(ConnectionError);
  });
});
