import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { content } from './corrections-steps.testing.js';
import { CorrectionsProject } from './project.testing.js';
import { LIMIT_RULES } from './window-oracle.testing.js';

const EVENTS = Number(process.env.TOLLGATE_ROUND_TRIP_EVENTS ?? 500);
const BATCH_EVENTS = 100;
const PART_EVENTS_MAX = 4_000;
const SEED = 11;
const TIMEOUT_MS = 60_000 + EVENTS * 100;

let fixture: CorrectionsFixture;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());

/** Returns the answers of a project that must be the same after a correction was applied and reverted. */
async function answersOf(
  project: CorrectionsProject,
  range: CorrectionsProject['everything'],
  accountIds: readonly string[],
): Promise<string[]> {
  const texts: string[] = [];
  for (const bucket_size of ['1m', '15m', '1h', '1d', 'none']) {
    const query = { time_range: range, bucket_size, metrics: ['llm.tokens', 'llm.calls', 'net.bytes'] };
    for (const group_by of [[], ['model', 'subject_id']]) {
      const { rows, truncated } = await project.must(200, 'POST', '/analysis/query', { ...query, group_by });
      texts.push(JSON.stringify([truncated, rows]));
    }
  }
  for (const id of accountIds) texts.push(JSON.stringify(await project.get(`/accounts/${id}/wallets`)));
  const windows = await fixture.rows(
    'select w.* from limit_windows w join limit_rules r on r.no = w.rule_no where r.project_id = $1 order by 1, 2, 3, 4, 5',
    [project.projectId],
  );
  texts.push(
    JSON.stringify(
      windows.map(({ used, window_start, subject_id, rule_no }) => [used, window_start, subject_id, rule_no]),
    ),
  );
  const { from, to } = range;
  const { text } = await project.call('GET', `/usage/events/export?format=ndjson&from=${from}&to=${to}`);
  texts.push(...text.trim().split('\n').map(lasting));
  return texts;
}

/** Returns an exported event without what every correction changes: its revision, and what names its posting. */
function lasting(line: string): string {
  const { revision: _revision, processed_at: _at, charge_items, ...event } = JSON.parse(line);
  const items = charge_items.map(({ ledger_transaction_id: _id, ...item }: Record<string, unknown>) => item);
  return JSON.stringify({ ...event, charge_items: items });
}

it(
  'answers everything as before, after a correction was applied and reverted',
  async () => {
    fixture.partEvents = Math.min(PART_EVENTS_MAX, Math.ceil(EVENTS / 3));
    const project = await CorrectionsProject.create(fixture);
    const plan = { name: 'plan', title: 'Plan', rules: LIMIT_RULES };
    const { id: planId } = await project.must(201, 'POST', '/usage-limit-plans', plan);
    await project.must(200, 'POST', `/usage-limit-plans/${planId}/publish`);
    const accounts = [await project.route('c1', planId), await project.route('c2')].map(
      ({ accountId }) => accountId,
    );
    const [prepaid = ''] = accounts;
    const credits = `/accounts/${prepaid}/wallets/USD`;
    await project.must(201, 'POST', `${credits}/credits`, { amount: '50' }, { 'idempotency-key': 'one' });
    await project.must(200, 'PUT', credits, { mode: 'prepaid' });
    const contents = fc.sample(content, { seed: SEED, numRuns: EVENTS });
    for (let at = 0; at < EVENTS; at += BATCH_EVENTS) {
      await project.send(contents.slice(at, at + BATCH_EVENTS), at * 60);
    }
    await fixture.settle();
    // The clock moves on while corrections are done.
    const range = project.everything;
    const before = await answersOf(project, range, accounts);
    await project.reprice({ token: '0.7', isStrict: true });

    const requests = [
      { action: 'rerate' },
      { action: 'void' },
      { action: 'void', filter: { ...project.everything, status: 'failed' } },
    ] as const;
    for (const request of requests) {
      const { id, events_changed, status } = await project.correct(request);
      expect([status, events_changed > 0]).toEqual(['applied', true]);
      expect(await answersOf(project, range, accounts)).not.toEqual(before);
      expect(await project.change(id, 'revert')).toMatchObject({ status: 'reverted' });
      expect(await answersOf(project, range, accounts)).toEqual(before);
    }
    const nothing = { difference_count: 0 };
    expect(await fixture.verify()).toMatchObject({ status: 'equal', ledger: nothing, postings: nothing });
    expect([fixture.defects, fixture.warnings]).toEqual([[], []]);
  },
  TIMEOUT_MS,
);
