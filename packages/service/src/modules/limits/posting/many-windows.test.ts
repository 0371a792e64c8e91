import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  batchRecord,
  createProject,
  PipelineFixture,
  type TestProject,
  testEvent,
} from '../../../testing/index.js';

import { PostingFixture } from './posting.testing.js';

/** Events of 2 USD, each of a subject of its own. */
const EVENTS = Array.from({ length: 9 }, (_, index) =>
  testEvent(`k${index}`, { subject_type: 'user', subject_id: `u${index}` }),
);
/** Alerts of the three windows of each subject. */
const ALERTS = 3 * 3;

let pipeline: PipelineFixture;
let other: TestProject;
let fixture: PostingFixture;

beforeEach(async () => {
  pipeline = await PipelineFixture.create();
  other = await createProject(pipeline.postgres, 'ten_b', 'prj_b');
  fixture = PostingFixture.of(pipeline.postgres, pipeline.project);
  const rules = ['a', 'b', 'c'].map((key) => ({ key, limit: '2', notifyAt: [50, 80] }));
  await fixture.publish('ulp_1', rules);
  await fixture.route({ planId: 'ulp_1', accountId: 'acct_1' });
});
afterEach(() => pipeline.drop());

it('a tenant whose events have many windows defers those beyond a bound, and posts each once', async () => {
  await pipeline.accept(batchRecord(pipeline.project, EVENTS), batchRecord(other, [testEvent('quick')]));
  pipeline.killAfter = 'claim';
  pipeline.killsAfterPasses = 1;
  await expect(pipeline.worker({ alertsMax: 2 * ALERTS }).drain()).rejects.toThrow('killed');
  pipeline.killAfter = undefined;
  expect(await pipeline.ingestTotals()).toMatchObject([
    { project_id: 'prj_a', processed_count: 2 },
    { project_id: 'prj_b', processed_count: 1 },
  ]);
  const worker = pipeline.worker({ alertsMax: 2 * ALERTS });
  await worker.drain();
  expect(worker.stats()).toMatchObject({ processed: 7, deferred: 5 + 3 + 1, duplicate: 0 });
  expect(await fixture.windows()).toHaveLength(EVENTS.length * 3);
  expect(await fixture.wallets()).toMatchObject([{ worth: String(-2 * EVENTS.length) }]);
  expect(await pipeline.rows('select count(*) from webhook_messages')).toEqual([
    { count: EVENTS.length * ALERTS },
  ]);
});
