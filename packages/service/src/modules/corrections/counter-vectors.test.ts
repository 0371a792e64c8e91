import { afterAll, beforeAll, expect, it } from 'vitest';
import { present } from '../../kernel/present.js';
import { isPeriodOf, PERIOD_VECTORS, periodVectorsOfOthers } from '../../testing/period-vectors.js';
import { CorrectionsFixture } from './corrections.testing.js';
import { countedProject, countedRules } from './counted.testing.js';

/** After all instants of the vectors. */
const NOW_MS = Date.UTC(2027, 11);

let fixture: CorrectionsFixture;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());

it.each(['subject', 'account'] as const)(
  'counters of a %s have the periods of others',
  async (per) => {
    const cases = [...PERIOD_VECTORS, ...periodVectorsOfOthers()];
    fixture.clock.advanceMs(Math.max(0, NOW_MS - fixture.clock.nowMs()));
    const project = await countedProject(fixture, { total: 'total.quantity' });
    const ruleSets = new Map<string, string>();
    for (const { period } of cases) {
      if (ruleSets.has(period)) continue;
      const rules = countedRules({ total: 'total.quantity', cumulative: { period, per } });
      const { id } = await project.must(201, 'POST', '/extractor-rule-sets', rules);
      await project.must(200, 'POST', `/extractor-rule-sets/${id}/publish`);
      ruleSets.set(period, id);
    }
    const events: object[] = [];
    for (const [index, { period, tz: timezone, anchor = 0, at }] of cases.entries()) {
      const subject = { subject_type: 'customer', subject_id: `${index}` };
      const ofAccount = per === 'account' ? { timezone, anchor } : {};
      const { id } = await project.must(201, 'POST', '/accounts', { name: `${index}`, ...ofAccount });
      const ofRoute = per === 'subject' ? { timezone, usage_limit_anchor: anchor } : {};
      await project.must(201, 'POST', '/subject-routes', { ...subject, account_id: id, ...ofRoute });
      events.push({
        ...{ extractor_rule_set_id: ruleSets.get(period), idempotency_key: `${index}`, occurred_at: at },
        raw_json: { customer: `${index}`, n: 1 },
      });
    }
    await project.must(202, 'POST', '/events/batch-ingest', { source: 'test', events });
    await fixture.rate();
    const periods = await fixture.rows<{ customer: number; startS: number; endS: number | null }>(
      `select coalesce(a.name, c.subject_id)::int as customer, c.period_start as "startS", c.period_end as "endS"
     from usage_counters c left join accounts a on a.project_id = c.project_id and a.id = c.account_id where c.project_id = $1`,
      [project.projectId],
    );
    expect(periods.length).toBe(cases.length);
    const differing = periods.filter(
      ({ customer, startS, endS }) =>
        !isPeriodOf(present(cases[customer], 'the case of a customer'), startS, endS ?? undefined),
    );
    expect(differing.map((found) => ({ ...found, ...cases[found.customer] }))).toEqual([]);
  },
  120_000,
);
