import { transaction } from '../../../platform/postgres/index.js';
import { BatchPosting } from './batch-posting.js';
import type { PostingFixture } from './posting.testing.js';
import type { PostedEvent } from './posting-oracle.testing.js';
import { PostingPlan } from './posting-plan.js';
import { ratedUsage } from './usage.testing.js';

/** Takes back an event as a correction does: from the levels and the account of its row. */
export function takeBack(
  { postgres, catalog, clock, project }: PostingFixture,
  { event, levels, accountId }: PostedEvent,
): Promise<void> {
  return transaction(postgres, async (tx) => {
    const posting = new BatchPosting(tx, catalog, clock.nowMs());
    const parents = levels.slice(1).map((id) => ({ type: 'user', id }));
    const usage = { ...ratedUsage({ ...event, isReversal: true }), parents };
    await posting.prepare([{ scope: project, events: [usage] }]);
    const plan = new PostingPlan();
    plan.add(usage, posting.ofCorrection(project, usage, accountId));
    await posting.writeCorrection(plan, 'cor_test');
  });
}
