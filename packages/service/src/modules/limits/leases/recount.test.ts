import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PostingFixture } from '../posting/posting.testing.js';
import { NOW_S } from '../posting/usage.testing.js';
import { recountReservations } from './recount-store.js';

let fixture: PostingFixture;
let ruleNo: number;

beforeEach(async () => {
  fixture = await PostingFixture.create();
  [ruleNo] = (await fixture.publish('ulp_1', [{ key: 'daily', limit: '100' }])) as [number];
  await fixture.route({ planId: 'ulp_1' });
  await fixture.lease({ amount: '10', ruleNos: [ruleNo], holdsWallet: true });
  await fixture.lease({ amount: '0.5', ruleNos: [ruleNo], expiresAt: NOW_S - 1 });
  await fixture.lease({ amount: '7', ruleNos: [ruleNo], status: 'closed' });
});
afterEach(() => fixture.drop());

const recount = (max = 10) => recountReservations(fixture.postgres, max);
const place = () => ({ tenant_id: fixture.project.tenantId, project_id: fixture.project.projectId });
const ofLimit = (subject_id: string, limit_rule_no: number) => ({
  ...place(),
  ...{ subject_type: 'user', subject_id, limit_rule_no, account_id: null, currency: null },
});

describe('a recount of reservations', () => {
  it('finds those in order that leases hold, the ones that are due included', async () => {
    expect(await recount()).toEqual({ leases: 2, difference_count: 0, differences: [] });
  });

  it('finds what is reserved too much or too little, of limits and of wallets', async () => {
    await fixture.rows('update limit_reserved set reserved = reserved + 1');
    await fixture.rows('update wallets set reserved = 9.5');
    const wallet = { subject_type: null, subject_id: null, limit_rule_no: null };
    expect(await recount()).toEqual({
      leases: 2,
      difference_count: 2,
      differences: [
        { ...ofLimit('u1', ruleNo), expected: '10.5', found: '11.5' },
        { ...place(), ...wallet, account_id: 'acct_a', currency: 'USD', expected: '10', found: '9.5' },
      ],
    });
  });

  it('finds what nobody holds, and what is held without being reserved; lists as many as asked', async () => {
    await fixture.rows(`update limit_reserved set subject_id = 'u2'`);
    const lost = { ...ofLimit('u1', ruleNo), expected: '10.5', found: '0' };
    const stray = { ...ofLimit('u2', ruleNo), expected: '0', found: '10.5' };
    expect(await recount()).toEqual({ leases: 2, difference_count: 2, differences: [lost, stray] });
    expect(await recount(1)).toEqual({ leases: 2, difference_count: 2, differences: [lost] });
  });
});
