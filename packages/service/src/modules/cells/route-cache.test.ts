import { beforeEach, describe, expect, it } from 'vitest';
import type { DomainError } from '../../kernel/errors.js';
import { waitFor } from '../../testing/index.js';
import type { TenantRoute } from './directory-store.js';
import { OTHER_MS_MAX, RouteCache, sourceOf } from './route-cache.js';

const ROUTE: TenantRoute = {
  tenantId: 'ten_1',
  cell: 'b',
  state: 'active',
  toCell: null,
  fromCell: null,
  version: 1,
  url: 'http://b',
};

let nowMs: number;
let asked: string[];
let found: Map<string, TenantRoute>;
let cache: RouteCache;
/** Look-ups wait for it. */
let gate: Promise<void>;
let failure: Error | undefined;

beforeEach(() => {
  nowMs = 0;
  asked = [];
  found = new Map([['known', ROUTE]]);
  gate = Promise.resolve();
  failure = undefined;
  cache = new RouteCache({
    lookUp: async (address) => {
      asked.push(address);
      await gate;
      if (failure !== undefined) throw failure;
      return found.get(address);
    },
    cellName: 'a',
    nowMs: () => nowMs,
  });
});

async function codeOf(outcome: unknown): Promise<string | undefined> {
  try {
    await outcome;
    return undefined;
  } catch (error) {
    return (error as DomainError).code;
  }
}

describe('a route to another cell', () => {
  it('is looked up once for many requests at the same time, and then used without a look-up', async () => {
    await Promise.all([cache.get('known', 'x'), cache.get('known', 'y')]);
    nowMs = 4_999;
    expect(cache.get('known', 'x')).toBe(ROUTE);
    expect(asked).toEqual(['known']);
  });

  it('is renewed in the background when it is older', async () => {
    await cache.get('known', 'x');
    nowMs = 5_000;
    found.set('known', { ...ROUTE, cell: 'c', version: 2 });
    expect(cache.get('known', 'x')).toBe(ROUTE);
    await waitFor(() => (cache.get('known', 'x') as TenantRoute).cell === 'c');
    expect(asked).toHaveLength(2);
  });

  it('is looked up before it is used when nobody has used it for long', async () => {
    await cache.get('known', 'x');
    nowMs = 60_000;
    found.set('known', { ...ROUTE, cell: 'c', version: 2 });
    expect(await cache.get('known', 'x')).toMatchObject({ cell: 'c' });
  });

  it('stays in use while the directory is unavailable, however old it is', async () => {
    await cache.get('known', 'x');
    failure = new Error('away');
    nowMs = 3_600_000;
    expect(await cache.get('known', 'x')).toBe(ROUTE);
    nowMs += 1;
    expect(await cache.get('known', 'x')).toBe(ROUTE);
  });

  it('is looked up again after it was wrong', async () => {
    await cache.get('known', 'x');
    found.set('known', { ...ROUTE, cell: 'c', version: 2 });
    expect(await cache.getAgain('known', 'x')).toMatchObject({ cell: 'c' });
  });
});

describe('other results are kept for a moment', () => {
  it.each([
    ['a tenant of this cell', { ...ROUTE, cell: 'a' }],
    ['a frozen tenant', { ...ROUTE, state: 'frozen' as const, toCell: 'c' }],
  ])('%s', async (_what, route) => {
    found.set('known', route);
    await cache.get('known', 'x');
    nowMs = OTHER_MS_MAX - 1;
    expect(cache.get('known', 'x')).toBe(route);
    nowMs = OTHER_MS_MAX;
    found.set('known', ROUTE);
    expect(await cache.get('known', 'x')).toBe(ROUTE);
  });

  it('an address that leads nowhere', async () => {
    await cache.get('made up', 'x');
    expect(cache.get('made up', 'x')).toBeUndefined();
    expect(asked).toHaveLength(1);
    nowMs = OTHER_MS_MAX;
    await cache.get('made up', 'x');
    expect(asked).toHaveLength(2);
  });
});

describe('made-up addresses', () => {
  it('do not displace routes', async () => {
    await cache.get('known', 'x');
    for (let count = 0; count < 150_000; count += 1) {
      if (count % 50 === 0) nowMs += 0.01;
      await cache.get(`made up ${count}`, `source ${count}`);
    }
    asked = [];
    expect(cache.get('known', 'x')).toBe(ROUTE);
    expect(asked).toEqual([]);
  });

  it('of one source are looked up at a bounded rate, and do not hinder other sources', async () => {
    for (let count = 0; count < 100; count += 1) await cache.get(`made up ${count}`, 'x');
    expect(await codeOf(cache.get('made up', 'x'))).toBe('unknown_keys_limit_reached');
    expect(asked).toHaveLength(100);
    expect(await cache.get('known', 'y')).toBe(ROUTE);
    expect(await cache.get('known', 'x')).toBe(ROUTE);
    expect(await codeOf(cache.get('made up', 'y'))).toBeUndefined();
    nowMs = 1_000;
    for (let count = 0; count < 10; count += 1) {
      expect(await codeOf(cache.get(`later ${count}`, 'x'))).toBeUndefined();
    }
    expect(await codeOf(cache.get('still later', 'x'))).toBe('unknown_keys_limit_reached');
  });

  it('include revoked keys, which a cell refuses repeatedly', async () => {
    await cache.get('known', 'x');
    for (let count = 0; count < 100; count += 1) await cache.getAgain('known', 'x');
    expect(await codeOf(cache.getAgain('known', 'x'))).toBe('unknown_keys_limit_reached');
    expect(asked).toHaveLength(101);
  });

  it('take three quarters of the look-ups at the same time, and leave the rest to others', async () => {
    let open = () => {};
    gate = new Promise((resolve) => {
      open = resolve;
    });
    const outcomes = Array.from({ length: 64 }, (_, index) => codeOf(cache.get(`made up ${index}`, 'x')));
    expect(asked).toHaveLength(48);
    const other = cache.get('known', 'y');
    open();
    expect(await other).toBe(ROUTE);
    expect((await Promise.all(outcomes)).filter((code) => code === 'server_busy')).toHaveLength(16);
    expect(await codeOf(cache.get('made up again', 'x'))).toBeUndefined();
  });
});

describe('a directory that is unavailable', () => {
  it('gets no look-ups for a second', async () => {
    failure = new Error('away');
    expect(await codeOf(cache.get('known', 'x'))).toBe('directory_unavailable');
    nowMs = 999;
    expect(await codeOf(cache.get('known', 'x'))).toBe('directory_unavailable');
    expect(asked).toHaveLength(1);
    nowMs = 1_000;
    failure = undefined;
    expect(await cache.get('known', 'x')).toBe(ROUTE);
  });
});

describe('a source', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::6', '2001:db8:1:2'],
    ['2001:db8::6', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
  ])('of %s is %s', (ipAddress, source) => {
    expect(sourceOf(ipAddress)).toBe(source);
  });
});
