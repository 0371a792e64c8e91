import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { CorrectionsProject } from './project.testing.js';

let fixture: CorrectionsFixture;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());

describe('an event that has failed', () => {
  it('is voided, given back by a revert, and rated again', async () => {
    const project = await CorrectionsProject.create(fixture, { token: '0.5', isStrict: true });
    const { accountId } = await project.route('c1');
    const [id = ''] = await project.sendAndRate([{ customer: 'c1', n: 2 }]);
    expect(await project.event(id)).toMatchObject({ status: 'failed', revision: 1 });
    const { id: correctionId } = await project.void(id);
    expect(await project.event(id)).toMatchObject({ status: 'voided', revision: 2 });
    expect(await project.ingestStatus()).toMatchObject({ failed: 0, voided: 1, processed: 0 });
    expect((await project.call('POST', `/usage/events/${id}/reprocess`)).status).toBe(409);

    await project.change(correctionId, 'revert');
    expect(await project.event(id)).toMatchObject({ status: 'failed', revision: 3 });
    expect(await project.ingestStatus()).toMatchObject({ failed: 1, voided: 0, processed: 0 });
    await project.reprice({ token: '0.5' });
    await project.must(202, 'POST', `/usage/events/${id}/reprocess`);
    await fixture.settle();
    expect(await project.event(id)).toMatchObject({
      ...{ status: 'processed', revision: 3 },
      charge_items: [{ quantity: '2', amount: '1' }],
      revisions: [
        { revision: 1, status: 'failed', correction_id: null },
        { revision: 2, status: 'voided', correction_id: correctionId },
        { revision: 3, status: 'processed', correction_id: correctionId, reason: 'void' },
      ],
    });
    expect(await project.balance(accountId)).toBe('-1');
    expect(await project.void(id)).toMatchObject({ status: 'applied', events_changed: 1 });
    expect(await project.event(id)).toMatchObject({ status: 'voided', revision: 4 });
    expect(await project.balance(accountId)).toBe('0');
  });

  it('is announced once, and not again when a revert gives it back', async () => {
    const project = await CorrectionsProject.create(fixture, { token: '0.5', isStrict: true });
    const [id = ''] = await project.sendAndRate([{ customer: 'c1', n: 2 }]);
    const { id: correctionId } = await project.void(id);
    // Messages are sent once an hour.
    fixture.clock.advanceMs(2 * 3_600_000);
    await project.change(correctionId, 'revert');
    expect(await project.event(id)).toMatchObject({ status: 'failed', revision: 3 });
    const sent = await fixture.rows(
      `select from webhook_messages where project_id = $1 and type = 'usage.failed'`,
      [project.projectId],
    );
    expect(sent).toHaveLength(1);
  });

  it('makes a plan stale when it was rated again meanwhile', async () => {
    const project = await CorrectionsProject.create(fixture, { token: '0.5', isStrict: true });
    const [id = ''] = await project.sendAndRate([{ customer: 'c1', n: 2 }]);
    const filter = { ...project.everything, status: 'failed' as const };
    const plan = await project.correct({ action: 'void', filter, dry_run: true });
    expect(plan).toMatchObject({ status: 'planned', events_changed: 1 });
    await project.reprice({ token: '0.5' });
    await project.must(202, 'POST', `/usage/events/${id}/reprocess`);
    await fixture.settle();
    expect(await project.change(plan.id, 'apply')).toMatchObject({
      status: 'stale',
      failure: { code: 'correction_stale' },
    });
    expect(await project.event(id)).toMatchObject({ status: 'processed', revision: 1 });
  });
});

describe('an event that is on its way', () => {
  it('is voided when its rows reach ClickHouse', async () => {
    const project = await CorrectionsProject.create(fixture);
    const [id = ''] = await project.send([{ customer: 'c1', n: 2 }]);
    expect((await project.call('POST', `/usage/events/${id}/void`, { reason: 'x' })).json()).toMatchObject({
      code: 'event_not_rated',
    });
    await fixture.rate();
    expect(await project.void(id)).toMatchObject({ status: 'applied', events_changed: 1 });
    expect(await project.event(id)).toMatchObject({ status: 'voided', revision: 2 });
  });

  it('is voided as it is after it was rated again, not as ClickHouse still shows it', async () => {
    const project = await CorrectionsProject.create(fixture, { token: '0.5', isStrict: true });
    const { accountId } = await project.route('c1');
    const [id = ''] = await project.sendAndRate([{ customer: 'c1', n: 2 }]);
    await project.reprice({ token: '0.5' });
    await project.must(202, 'POST', `/usage/events/${id}/reprocess`);
    await fixture.rate();
    expect(await project.event(id)).toMatchObject({ status: 'failed' });
    expect(await project.void(id)).toMatchObject({
      ...{ status: 'applied', events_changed: 1 },
      totals: [{ account_id: accountId, amount: { before: '1', after: '0', delta: '-1' } }],
    });
    expect(await project.balance(accountId)).toBe('0');
  });
});

it('leaves both stores equal', async () => {
  await fixture.settle();
  expect(await fixture.verify()).toMatchObject({
    ...{ status: 'equal', ledger: { difference_count: 0 }, postings: { difference_count: 0 } },
  });
  expect([fixture.defects, fixture.warnings]).toEqual([[], []]);
});
