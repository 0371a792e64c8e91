import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { countedProject, countedRules } from './counted.testing.js';

const VECTORS = new URL('../../../../../../shared/vectors/windows.json', import.meta.url);
/** After all instants of the vectors. */
const NOW_MS = Date.UTC(2027, 11);

/** Fields of an instant in UTC; months count from 1. */
type Fields = Readonly<Partial<Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', number>>>;

/** The period of a subject that contains an instant. Unix seconds. */
interface Vector {
  readonly o: string;
  readonly period: string;
  readonly tz: string;
  readonly anchor?: number;
  readonly at: number;
  readonly start?: number;
  readonly end?: number;
  readonly startFields?: Fields;
  readonly endFields?: Fields;
}

/** Cases of this test, and those of other products if the file exists. */
function vectors(): readonly Vector[] {
  const own: Vector[] = [
    // The clocks of New York go forward on 8 March 2026, and back on 1 November 2026.
    {
      ...{ o: 'a day of 23 hours', period: 'day', tz: 'America/New_York', at: 1_772_980_000 },
      ...{ start: 1_772_946_000, end: 1_773_028_800 },
    },
    {
      ...{ o: 'a day of 25 hours', period: 'day', tz: 'America/New_York', at: 1_793_520_000 },
      ...{ start: 1_793_505_600, end: 1_793_595_600 },
    },
    // 31 January, then the last day of February.
    {
      ...{ o: 'a month from its last day', period: '1 month', tz: 'UTC', anchor: 1_769_817_600 },
      ...{ at: 1_773_000_000, start: 1_772_236_800, end: 1_774_915_200 },
    },
  ];
  if (!existsSync(VECTORS)) return own;
  return [...own, ...(JSON.parse(readFileSync(VECTORS, 'utf8')) as { cases: Vector[] }).cases];
}

let fixture: CorrectionsFixture;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());

function hasFields(atS: number | null, fields: Fields = {}): boolean {
  const date = new Date((atS ?? Number.NaN) * 1_000);
  const [year, month, day, hour, minute, second] = date.toISOString().split(/[^\d]/).map(Number);
  const found = { year, month, day, hour, minute, second };
  return Object.entries(fields).every(([name, value]) => found[name as keyof Fields] === value);
}

it.each(['subject', 'account'] as const)(
  'counters of a %s have the periods of others',
  async (per) => {
    const cases = vectors();
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
    const differing = periods.filter(({ customer, startS, endS }) => {
      const { start = startS, end = endS, startFields, endFields } = cases[customer] as Vector;
      return (
        start !== startS || end !== endS || !hasFields(startS, startFields) || !hasFields(endS, endFields)
      );
    });
    expect(differing.map((found) => ({ ...found, ...cases[found.customer] }))).toEqual([]);
  },
  120_000,
);
