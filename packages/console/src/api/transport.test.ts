import type { Warning } from '@tollgate/contract';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { client, onSaved, onUnauthenticated, session } from './transport.js';

const TOKEN = 'csrf-1';
const WARNINGS = [{ code: 'unknown_metric', path: 'metrics[0]', name: 'a', message: 'unknown' }];

let sent: { readonly url: string; readonly method: string; readonly token: string | null }[];
let status: number;
let answer: unknown;

beforeEach(() => {
  sent = [];
  status = 200;
  answer = {};
  vi.stubGlobal('fetch', async (url: string, { method = '', headers }: RequestInit) => {
    sent.push({ url, method, token: new Headers(headers).get('x-csrf-token') });
    return answer === undefined ? new Response(null, { status }) : Response.json(answer, { status });
  });
});
afterEach(() => vi.unstubAllGlobals());

describe('requests in a session', () => {
  it('carry its token when they change something', async () => {
    answer = { csrf_token: TOKEN, me: null };
    expect(await session.read()).toEqual(answer);
    await client.project('prj_1').boards.create({ name: 'a' });
    expect(sent).toEqual([
      { url: '/api/session', method: 'GET', token: null },
      { url: '/api/v1/projects/prj_1/analysis/boards', method: 'POST', token: TOKEN },
    ]);
  });

  it('tell when the session has ended, but not of a wrong key at the sign-in', async () => {
    const notified = vi.fn();
    const unsubscribe = onUnauthenticated(notified);
    status = 401;
    answer = { error: 'Invalid', code: 'unauthenticated' };
    await expect(session.begin('tg_test_wrong')).rejects.toMatchObject({ status: 401 });
    expect(notified).not.toHaveBeenCalled();
    await expect(client.me()).rejects.toMatchObject({ status: 401 });
    expect(notified).toHaveBeenCalledOnce();
    unsubscribe();
    await expect(client.me()).rejects.toMatchObject({ status: 401 });
    expect(notified).toHaveBeenCalledOnce();
  });
});

describe('warnings of a save', () => {
  const noted: (readonly Warning[])[] = [];
  let unsubscribe: () => void;
  beforeEach(() => {
    noted.length = 0;
    unsubscribe = onSaved((warnings) => noted.push(warnings));
  });
  afterEach(() => unsubscribe());

  it('are noted, and none after a deletion', async () => {
    const { boards } = client.project('prj_1');
    answer = { id: 1, warnings: WARNINGS };
    expect(await boards.update('brd_1', { name: 'b' })).toEqual(answer);
    answer = undefined;
    status = 204;
    await boards.delete('brd_1');
    expect(noted).toEqual([WARNINGS, []]);
  });

  it('are left in place by reading, by a query, by a test of rules and by a change that has none', async () => {
    const { analysis, boards, pricingRuleSets, ruleTrials } = client.project('prj_1');
    answer = { warnings: WARNINGS };
    await boards.list();
    await analysis.query({ metrics: ['a'], time_range: { last_seconds: 60 } });
    await ruleTrials.test({ event: { raw_json: {} } });
    answer = {};
    await pricingRuleSets.archive('prs_1');
    expect(noted).toEqual([]);
  });
});
