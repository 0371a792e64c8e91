import type { Tx } from '../../../platform/postgres/index.js';
import type { Release } from '../../ledger/index.js';
import { type HeldAmount, subtractReserved } from '../leases/reserved-store.js';
import type { LeaseCharge } from './lease-charge-store.js';
import { type AppliedCharge, chargeLeases } from './lease-charge-store.js';

/**
 * Charges leases, and releases what they no longer hold of the reserved amounts of their rules. Locks leases, then
 * rules.
 *
 * @returns what to release of their wallets, one entry for each wallet
 */
export async function releaseCharges(tx: Tx, charges: readonly LeaseCharge[]): Promise<Release[]> {
  const applied = (await chargeLeases(tx, charges)).filter(({ released }) => released > 0n);
  await subtractReserved(tx, heldByRule(applied));
  return heldByWallet(applied);
}

function heldByRule(applied: readonly AppliedCharge[]): HeldAmount[] {
  const byRule = new Map<string, HeldAmount>();
  for (const { scope, lease, released } of applied) {
    const { projectNo } = scope;
    const subject = { type: lease.subjectType, id: lease.subjectId };
    for (const ruleNo of lease.ruleNos) {
      const key = `${projectNo} ${ruleNo} ${subject.type} ${subject.id}`;
      const before = byRule.get(key);
      const amount = before === undefined ? released : before.amount + released;
      byRule.set(key, { projectNo, subject, ruleNo, amount });
    }
  }
  return [...byRule.values()];
}

function heldByWallet(applied: readonly AppliedCharge[]): Release[] {
  const byWallet = new Map<string, Release>();
  for (const { scope, lease, released } of applied) {
    const { accountId, currency } = lease;
    if (!lease.holdsWallet || accountId === null) continue;
    const { tenantId, projectId } = scope;
    const key = `${accountId} ${currency}`;
    const before = byWallet.get(key);
    const amount = before === undefined ? released : before.amount + released;
    byWallet.set(key, { tenantId, projectId, accountId, currency, amount });
  }
  return [...byWallet.values()];
}
