import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PostingFixture } from './posting.testing.js';
import { NOW_S, type TestUsage } from './usage.testing.js';

describe('events of a budget lease', () => {
  let fixture: PostingFixture;
  let ruleNo: number;

  beforeEach(async () => {
    fixture = await PostingFixture.create();
    [ruleNo = 0] = await fixture.publish('ulp_1', [{ key: 'daily', limit: '100' }]);
    await fixture.route({ planId: 'ulp_1' });
  });

  afterEach(() => fixture.drop());

  const statuses = async (events: readonly TestUsage[]) =>
    (await fixture.post(events)).map(({ leaseStatus }) => leaseStatus);

  async function state(leaseId: string) {
    const [lease] = await fixture.rows(
      `select trim_scale(used)::text as used, trim_scale(held)::text as held from budget_leases where id = $1`,
      [leaseId],
    );
    const [rule] = await fixture.rows(`select trim_scale(reserved)::text as reserved from limit_reserved`);
    const [wallet] = await fixture.rows(
      `select trim_scale(reserved)::text as reserved from wallets where account_id = 'acct_a' and currency = 'USD'`,
    );
    return { ...lease, rule: rule?.reserved, wallet: wallet?.reserved };
  }

  it('move what is held to what is used', async () => {
    const leaseId = await fixture.lease({ ruleNos: [ruleNo], holdsWallet: true });
    expect(await statuses([{ leaseId }, { leaseId, items: [{ amount: '2' }] }])).toEqual([
      'applied',
      'applied',
    ]);
    expect(await state(leaseId)).toEqual({ used: '3', held: '7', rule: '7', wallet: '7' });
    expect(await fixture.windows()).toMatchObject([{ used: '3' }]);
  });

  it('are charged with one statement if all of their leases are of one amount', async () => {
    const leaseId = await fixture.lease({ ruleNos: [ruleNo] });
    const other = await fixture.lease({ ruleNos: [ruleNo] });
    const spy = vi.spyOn(pg.Client.prototype, 'query');
    await fixture.post([{ leaseId }, { leaseId: other }]);
    const texts = spy.mock.calls.map(
      ([query]) => (query as unknown as { text?: string })?.text ?? String(query),
    );
    spy.mockRestore();
    const charging = texts
      .filter((text) => /budget_leases/.test(text))
      .map((text) => text.trim().split(/\s/)[0]);
    expect(charging).toEqual(['select', 'with']);
  });

  it('move it at the levels where the lease was opened, and count at those of now', async () => {
    await fixture.route({ subjectId: 'former', planId: 'ulp_1' });
    await fixture.route({ subjectId: 'now', planId: 'ulp_1' });
    await fixture.route({ subjectId: 'u1', planId: 'ulp_1', accountId: null, parentId: 'now' });
    const leaseId = await fixture.lease({ ruleNos: [ruleNo] });
    await fixture.rows(
      `update budget_leases set rule_nos = rule_nos || rule_nos, rule_subject_types = '{user,user}',
        rule_subject_ids = '{u1,former}'`,
    );
    await fixture.rows(
      `insert into limit_reserved select project_no, subject_type, 'former', rule_no, reserved from limit_reserved`,
    );
    await fixture.post([{ leaseId, items: [{ amount: '4' }] }]);
    const reserved = await fixture.rows(
      `select subject_id, trim_scale(reserved)::text as reserved from limit_reserved order by 1`,
    );
    expect(reserved).toEqual([
      { subject_id: 'former', reserved: '6' },
      { subject_id: 'u1', reserved: '6' },
    ]);
    expect(await fixture.windows()).toMatchObject([
      { subject_id: 'now', used: '4' },
      { subject_id: 'u1', used: '4' },
    ]);
  });

  it('use more than is held, and release no more than that', async () => {
    const leaseId = await fixture.lease({ ruleNos: [ruleNo], holdsWallet: true });
    const other = await fixture.lease({ ruleNos: [ruleNo], holdsWallet: true });
    await fixture.post([{ leaseId, items: [{ amount: '25' }] }, { leaseId: other }]);
    expect(await state(leaseId)).toEqual({ used: '25', held: '0', rule: '9', wallet: '9' });
    expect(await state(other)).toMatchObject({ used: '1', held: '9' });
  });

  it('do not hold again what a refund gives back', async () => {
    const leaseId = await fixture.lease({ ruleNos: [ruleNo] });
    await fixture.post([
      { leaseId, items: [{ amount: '4' }] },
      { leaseId, items: [{ amount: '-3' }] },
    ]);
    expect(await state(leaseId)).toMatchObject({ used: '1', held: '6', rule: '6' });
  });

  it('use no less than nothing of a lease, by the net amount of each batch', async () => {
    const leaseId = await fixture.lease({ ruleNos: [ruleNo] });
    const refund = { leaseId, items: [{ amount: '-3' }] };
    const charge = { leaseId, items: [{ amount: '2' }] };
    await fixture.post([refund, charge]);
    expect(await state(leaseId)).toMatchObject({ used: '0', held: '8', rule: '8' });
    await fixture.post([charge]);
    await fixture.post([charge]);
    expect(await state(leaseId)).toMatchObject({ used: '4', held: '4', rule: '4' });
    await fixture.post([refund, charge]);
    expect(await state(leaseId)).toMatchObject({ used: '3', held: '2', rule: '2' });
  });

  it('use what is of the currency and the metric of the lease', async () => {
    const leaseId = await fixture.lease({ metric: 'llm.calls', ruleNos: [ruleNo] });
    const items = [
      { amount: '1' },
      { metric: 'llm.calls', amount: '2' },
      { metric: 'llm.calls', amount: '4', currency: 'EUR' },
    ];
    expect(
      await statuses([
        { leaseId, items },
        { leaseId, items: [{}] },
      ]),
    ).toEqual(['applied', 'applied']);
    expect(await state(leaseId)).toMatchObject({ used: '2', held: '8', rule: '8' });
  });

  it('are rated without one that has ended or was never theirs, and say so', async () => {
    const leases = [
      await fixture.lease({ status: 'closed' }),
      await fixture.lease({ status: 'expired' }),
      await fixture.lease({ expiresAt: NOW_S }),
      await fixture.lease({ subjectId: 'u2' }),
      `bl_${'0'.repeat(32)}`,
      "bl_\0'; drop table budget_leases",
    ];
    const events = leases.map((leaseId) => ({ leaseId }));
    const leaseId = leases[0] as string;
    expect(await statuses([...events, { leaseId, subject: null }, {}])).toEqual([
      ...['closed', 'expired', 'expired', 'unknown', 'unknown', 'unknown', 'unknown', 'none'],
    ]);
    expect(await fixture.rows('select from budget_leases where used <> 0')).toEqual([]);
    expect(await fixture.windows()).toMatchObject([{ used: '7' }]);
  });

  it("do not know another project's", async () => {
    const leaseId = await fixture.lease();
    await fixture.rows(`insert into tenants (id, name, created_at) values ('ten_b', 'b', 0)`);
    await fixture.rows(`update budget_leases set tenant_id = 'ten_b'`);
    expect(await statuses([{ leaseId }])).toEqual(['unknown']);
  });

  it('charge a lease that holds nothing any more, and release nothing', async () => {
    const leaseId = await fixture.lease({ ruleNos: [ruleNo] });
    await fixture.rows(`update budget_leases set held = 0`);
    await fixture.rows(`update limit_reserved set reserved = 0`);
    await fixture.post([{ leaseId }]);
    expect(await state(leaseId)).toMatchObject({ used: '1', held: '0', rule: '0' });
  });

  it('release the wallet that holds the lease when the subject has another account by now', async () => {
    const leaseId = await fixture.lease({ holdsWallet: true });
    await fixture.route({ accountId: 'acct_b', planId: 'ulp_1' });
    await fixture.post([{ leaseId }]);
    expect(await state(leaseId)).toMatchObject({ used: '1', held: '9', wallet: '9' });
    expect(await fixture.rows(`select account_id from ledger_transactions`)).toEqual([
      { account_id: 'acct_b' },
    ]);
  });

  it('charge it even where the subject has no route any more', async () => {
    const leaseId = await fixture.lease({ ruleNos: [ruleNo], holdsWallet: true });
    await fixture.rows('delete from subject_routes');
    await fixture.rows('update limit_revisions set revision = revision + 1');
    expect(await fixture.post([{ leaseId }])).toMatchObject([
      { posting: 'unrouted', leaseStatus: 'applied' },
    ]);
    expect(await state(leaseId)).toEqual({ used: '1', held: '9', rule: '9', wallet: '9' });
    expect(await fixture.windows()).toEqual([]);
  });
});
