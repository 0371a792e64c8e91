import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  batchRecord,
  createProject,
  PipelineFixture,
  type TestProject,
  testEvent,
} from '../../../testing/index.js';
import { PostingFixture } from './posting.testing.js';

/** As many as a batch reads before it looks at how large they are. */
const READ_TOGETHER = 500;
/** The limits of one lease, too many to read another one. */
const LIMITS = 300_000;

let pipeline: PipelineFixture;
let other: TestProject;
let fixture: PostingFixture;

beforeEach(async () => {
  pipeline = await PipelineFixture.create();
  other = await createProject(pipeline.postgres, 'ten_b', 'prj_b');
  fixture = PostingFixture.of(pipeline.postgres, pipeline.project);
  await fixture.route({ accountId: 'acct_1' });
});
afterEach(() => pipeline.drop());

/** An event of 2 USD. */
const eventOf = (key: string, leaseId: string) =>
  testEvent(key, {
    ...{ subject_type: 'user', subject_id: 'u1' },
    'x-usage-control': { budget_lease_id: leaseId },
  });

it('a tenant whose events name very large leases defers those beyond a bound, and charges each once', async () => {
  const ruleNos = Array.from({ length: LIMITS }, (_, ruleNo) => ruleNo);
  const large = await fixture.lease({ ruleNos, status: 'closed' });
  const unknown = Array.from({ length: READ_TOGETHER - 1 }, (_, n) => `bl_${String(n).padStart(32, '0')}`);
  const active = { expiresAt: 4_000_000_000 };
  const [one, two] = [await fixture.lease(active), await fixture.lease(active)];
  const events = [large, ...unknown, one, two, one].map((leaseId, n) => eventOf(`k${n}`, leaseId));
  await pipeline.accept(batchRecord(pipeline.project, events), batchRecord(other, [testEvent('quick')]));
  pipeline.killAfter = 'claim';
  pipeline.killsAfterPasses = 1;
  await expect(pipeline.worker().drain()).rejects.toThrow('killed');
  pipeline.killAfter = undefined;
  expect(await pipeline.ingestTotals()).toMatchObject([
    { project_id: 'prj_a', processed_count: READ_TOGETHER },
    { project_id: 'prj_b', processed_count: 1 },
  ]);
  await pipeline.worker().drain();
  expect(await fixture.wallets()).toMatchObject([{ worth: String(-2 * events.length) }]);
  expect(
    await fixture.rows(
      `select id, trim_scale(used)::text as used, trim_scale(held)::text as held from budget_leases
      where status = 'active' order by id`,
    ),
  ).toEqual([
    { id: one, used: '4', held: '6' },
    { id: two, used: '2', held: '8' },
  ]);
});
