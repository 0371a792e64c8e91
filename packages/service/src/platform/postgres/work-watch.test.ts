import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import { createTestPostgres, type TestPostgres, waitFor } from '../../testing/index.js';
import { DUE_NOW, WorkWatch } from './work-watch.js';

const NOW_MS = 1_750_000_000_000;

let store: TestPostgres;
let clock: ManualClock;
let warnings: number;
let called: string[];

beforeAll(async () => {
  store = await createTestPostgres();
  await store.postgres.pool.query('create table works (kind text primary key, due_at_ms bigint)');
});
beforeEach(async () => {
  await store.postgres.pool.query('truncate works');
  clock = new ManualClock(NOW_MS);
  [warnings, called] = [0, []];
});
afterAll(() => store.drop());

const log = {
  warn: () => {
    warnings += 1;
  },
};
const newWatch = () => new WorkWatch({ postgres: store.postgres, clock, log });

function add(watch: WorkWatch, kind: string, lookMs: number): () => void {
  const dueAtMs = sql<number | null>`select min(due_at_ms) from works where kind = ${kind}`;
  return watch.add({ dueAtMs, lookMs, onDue: () => called.push(kind) });
}

async function setDue(kind: string, dueAtMs: number): Promise<void> {
  await store.postgres.pool.query('insert into works values ($1, $2)', [kind, dueAtMs]);
}

async function callsAt(watch: WorkWatch, nowMs: number): Promise<string[]> {
  called = [];
  await watch.look(nowMs);
  return called;
}

describe('a watch', () => {
  it('calls for work that is due, again and again until it is done', async () => {
    const watch = newWatch();
    add(watch, 'a', 200);
    add(watch, 'b', 200);
    expect(await callsAt(watch, 0)).toEqual([]);
    await setDue('b', NOW_MS);
    expect(await callsAt(watch, 199)).toEqual([]);
    expect(await callsAt(watch, 200)).toEqual(['b']);
    expect(await callsAt(watch, 399)).toEqual([]);
    expect(await callsAt(watch, 400)).toEqual(['b']);
    await store.postgres.pool.query('truncate works');
    expect(await callsAt(watch, 600)).toEqual([]);
  });

  it('looks for each kind at its own interval, and for some a little early', async () => {
    const watch = newWatch();
    add(watch, 'often', 200);
    add(watch, 'seldom', 500);
    await setDue('often', 0);
    await setDue('seldom', 0);
    expect(await callsAt(watch, 0)).toEqual(['often', 'seldom']);
    expect(await callsAt(watch, 200)).toEqual(['often']);
    // At 400, the look that is due at 500 is at most 100 ms away.
    expect(await callsAt(watch, 400)).toEqual(['often', 'seldom']);
  });

  it('calls at the time at which work becomes due, before the interval has passed', async () => {
    const watch = newWatch();
    add(watch, 'lease', 500);
    await setDue('lease', NOW_MS + 120);
    expect(await callsAt(watch, 0)).toEqual([]);
    clock.advanceMs(119);
    expect(await callsAt(watch, 119)).toEqual([]);
    clock.advanceMs(1);
    expect(await callsAt(watch, 120)).toEqual(['lease']);
  });

  it('postpones a look when the job was notified in another way', async () => {
    const watch = newWatch();
    const postpone = add(watch, 'a', 200);
    await setDue('a', 0);
    postpone();
    expect(await callsAt(watch, performance.now())).toEqual([]);
    expect(await callsAt(watch, performance.now() + 200)).toEqual(['a']);
  });

  it('runs until it is stopped, also after failures', async () => {
    const watch = newWatch();
    add(watch, 'a', 1);
    const late = sql<number>`select ${DUE_NOW} from late_works limit 1`;
    watch.add({ dueAtMs: late, lookMs: 1, onDue: () => called.push('late') });
    await setDue('a', 0);
    const stop = new AbortController();
    const running = watch.run(stop.signal);
    await waitFor(() => warnings > 0);
    expect(called).toEqual([]);
    await store.postgres.pool.query('create table late_works as select 1 as one');
    await waitFor(() => called.includes('a') && called.includes('late'));
    stop.abort();
    await running;
  });

  it('ends at once if it has no work to look for', async () => {
    await newWatch().run(new AbortController().signal);
  });
});
