import { request as httpRequest } from 'node:http';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateApiKey } from '../../kernel/api-key-text.js';
import type { App } from '../../platform/http/index.js';
import { waitFor } from '../../testing/index.js';
import { CellsFixture, type TestCell } from './cells.testing.js';

let cells: CellsFixture;
let a: TestCell;
let b: TestCell;
beforeAll(async () => {
  cells = await CellsFixture.start();
  a = await cells.addCell('a', addSlowRoute);
  b = await cells.addCell('b', addSlowRoute);
});
afterAll(() => cells.stop());

let endResponses: () => void = () => {};

function addSlowRoute(app: App): void {
  const ended = new Promise<void>((resolve) => {
    endResponses = resolve;
  });
  const config = { access: { kind: 'any-key' }, isLong: true } as const;
  app.get('/v1/test/slow', { config, schema: { hide: true } }, async (_request, reply) => {
    const body = new PassThrough();
    body.write('one\n');
    ended.then(() => body.end());
    return reply.type('text/plain').send(body);
  });
}

const me = (cell: TestCell, key: string) => cells.call(cell, 'GET', '/v1/me', { key });

/** Makes all cached look-ups old. */
function age(): void {
  cells.monotonicMs += 120_000;
}

describe('a cell that does not respond', () => {
  it('gives a 503 to its tenants only', async () => {
    const c = await cells.addCell('gone');
    const { key } = await cells.makeTenant(c);
    const mine = await cells.makeTenant(a);
    await c.app.close();
    const answer = await me(a, key.key);
    expect([answer.status, answer.json().code]).toEqual([503, 'cell_unavailable']);
    expect((await me(a, mine.key.key)).status).toBe(200);
  });

  it('holds only a share of the requests that are forwarded', async () => {
    const { key } = await cells.makeTenant(b);
    const statuses: number[] = [];
    const open = Array.from({ length: 200 }, () =>
      httpRequest(`${a.url}/v1/test/slow`, {
        headers: { authorization: `Bearer ${key.key}` },
        agent: false,
      }),
    );
    for (const each of open) {
      each.on('response', (response) => {
        statuses.push(response.statusCode ?? 0);
        response.resume();
      });
      each.on('error', () => {});
      each.end();
    }
    await waitFor(() => statuses.length === open.length);
    // One tenant may have three quarters of 256.
    expect(statuses.filter((status) => status === 200)).toHaveLength(192);
    expect(statuses.filter((status) => status === 503)).toHaveLength(8);
    const other = await cells.makeTenant(b);
    expect((await me(a, other.key.key)).status).toBe(200);
    endResponses();
    for (const each of open) each.destroy();
  });
});

describe('made-up keys', () => {
  it('are refused after a hundred, while keys of other cells go on', async () => {
    const { key } = await cells.makeTenant(b);
    expect((await me(a, key.key)).status).toBe(200);
    for (let count = 0; count < 100; count += 1) {
      expect((await me(a, generateApiKey('live'))).status).toBe(401);
    }
    const refused = await me(a, generateApiKey('live'));
    expect([refused.status, refused.json().code]).toEqual([429, 'unknown_keys_limit_reached']);
    expect((await me(a, key.key)).status).toBe(200);
    const mine = await cells.makeTenant(a);
    expect((await me(a, mine.key.key)).status).toBe(200);
    age();
  });
});

describe('while the directory is unavailable', () => {
  it('tenants of the cell and known routes are served; new look-ups and new keys get a 503', async () => {
    const mine = await cells.makeTenant(a);
    const known = await cells.makeTenant(b);
    const unknown = await cells.makeTenant(b);
    expect((await me(a, known.key.key)).status).toBe(200);
    await cells.setAway(true);
    try {
      for (const _ of ['fresh', 'old', 'older']) {
        expect((await me(a, mine.key.key)).status).toBe(200);
        expect((await me(a, known.key.key)).status).toBe(200);
        const refused = await me(a, unknown.key.key);
        expect([refused.status, refused.json().code]).toEqual([503, 'directory_unavailable']);
        expect(refused.headers.get('retry-after')).toBe('1');
        age();
      }
      const key = cells.serviceKey;
      const tenant = await cells.call(a, 'GET', `/admin/v1/tenants/${mine.tenantId}`, { key });
      expect(tenant.status).toBe(200);
      const body = { name: 'k', permissions: ['usage:read'] };
      const made = await cells.call(a, 'POST', `/admin/v1/tenants/${mine.tenantId}/api-keys`, { key, body });
      expect([made.status, made.json().code]).toEqual([503, 'directory_unavailable']);
      const { rows } = await a.store.postgres.pool.query(
        'select count(*)::int as count from api_keys where tenant_id = $1',
        [mine.tenantId],
      );
      expect(rows).toEqual([{ count: 1 }]);
    } finally {
      await cells.setAway(false);
    }
    age();
    expect((await me(a, unknown.key.key)).status).toBe(200);
  });
});
