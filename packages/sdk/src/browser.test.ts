import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { TollgateClient } from './client.js';

afterEach(() => vi.unstubAllGlobals());

/** Returns the Node.js modules that a file of the SDK imports, directly or indirectly. */
function nodeModulesOf(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  const code = readFileSync(new URL(file, import.meta.url), 'utf8');
  const imports = [...code.matchAll(/^(?:import|export) (?!type\b)[^;]*?from '([^']+)';$/gms)];
  const specifiers = imports.map(([, specifier = '']) => specifier);
  const own = specifiers.filter((specifier) => specifier.startsWith('node:'));
  const others = specifiers
    .filter((specifier) => specifier.startsWith('.'))
    .flatMap((specifier) => {
      const target = new URL(specifier.replace(/\.js$/, '.ts'), new URL(file, import.meta.url));
      return nodeModulesOf(target.href, seen);
    });
  return [...own, ...others];
}

it('the entry for browsers needs nothing of Node.js', () => {
  expect(nodeModulesOf('./browser.ts')).toEqual([]);
  expect(nodeModulesOf('./index.ts')).toContain('node:crypto');
});

describe('a client of a page', () => {
  /** Records requests to the origin of the page; a browser's `fetch` must not be called as a method. */
  function stubFetch(answer: unknown = {}) {
    const sent: { readonly url: unknown; readonly headers: Headers }[] = [];
    vi.stubGlobal('fetch', async function (this: unknown, url: unknown, init: RequestInit) {
      if (this !== undefined) throw new TypeError('Illegal invocation');
      sent.push({ url, headers: new Headers(init.headers) });
      return typeof answer === 'string' ? new Response(answer) : Response.json(answer);
    });
    return sent;
  }

  it('asks below a path of its origin, without a key', async () => {
    const sent = stubFetch({ id: 1 });
    const client = new TollgateClient({ baseUrl: '/api/' });
    expect(await client.me()).toEqual({ id: 1 });
    expect(await client.request('GET', '/session')).toEqual({ id: 1 });
    expect(sent.map(({ url }) => url)).toEqual(['/api/v1/me', '/api/session']);
    expect(sent[0]?.headers.has('authorization')).toBe(false);
  });

  it('takes no other host for a path', () => {
    expect(() => new TollgateClient({ baseUrl: '//example.com' })).toThrow(TypeError);
  });

  it('names the address of an export', () => {
    const { usage } = new TollgateClient({ baseUrl: '/api' }).project('prj_1');
    expect(usage.exportUrl({ from: 1, to: 2, filters: { m: { in: ['x'] } } })).toBe(
      '/api/v1/projects/prj_1/usage/events/export?from=1&to=2&filters=%7B%22m%22%3A%7B%22in%22%3A%5B%22x%22%5D%7D%7D',
    );
  });

  it('reads and sends numbers that no double holds', async () => {
    const text = '{"quantity": 0.10000000000000000001}';
    const sent = stubFetch(text);
    const { usage, ruleTrials } = new TollgateClient({ baseUrl: '/api' }).project('prj_1');
    expect(await usage.eventText('evt_1')).toBe(text);
    await ruleTrials.testText(text);
    expect(sent.map(({ url }) => url)).toEqual([
      '/api/v1/projects/prj_1/usage/events/evt_1',
      '/api/v1/projects/prj_1/rules/test',
    ]);
  });

  it('reads rows as CSV', async () => {
    const sent = stubFetch('a,b\n1,2\n');
    const { analysis } = new TollgateClient({ baseUrl: '/api' }).project('prj_1');
    expect(await analysis.queryCsv({ metrics: ['a'], time_range: { last_seconds: 60 } })).toBe('a,b\n1,2\n');
    expect(sent[0]?.headers.get('accept')).toBe('text/csv');
  });

  it('follows charts from a position', async () => {
    const sent = stubFetch('event: ready\nid: 8\ndata: {}\n\n');
    const { analysis } = new TollgateClient({ baseUrl: '/api' }).project('prj_1');
    const query = [{ metrics: ['a'], time_range: { last_seconds: 60 } }];
    const messages = [];
    for await (const message of analysis.follow({ query, chart_id: ['chr_1'] }, { position: '7' }))
      messages.push(message);
    expect(messages).toEqual([{ type: 'ready', position: '8' }]);
    const url = new URL(String(sent[0]?.url), 'http://localhost');
    expect([...url.searchParams.keys()].sort()).toEqual(['chart_id', 'query']);
    expect(JSON.parse(url.searchParams.get('query') ?? '')).toEqual(query[0]);
    expect(sent[0]?.headers.get('last-event-id')).toBe('7');
    expect(sent[0]?.headers.get('accept')).toBe('text/event-stream');
  });
});
