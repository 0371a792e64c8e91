import type { WalletMode } from '@tollgate/contract';
import type { Amount } from '../modules/ledger/index.js';

interface OracleGrant {
  readonly no: number;
  readonly priority: number;
  readonly expiresAt: number | null;
  readonly amount: Amount;
  remaining: Amount;
  isExpired: boolean;
}

/**
 * The state of a wallet, computed as plainly as possible: every debit is taken from credits at once. The delayed work
 * of the real ledger must never show.
 */
export class WalletOracle {
  mode: WalletMode = 'postpaid';
  reserved: Amount = 0n;
  readonly grants: OracleGrant[] = [];
  /** Returned money that no credit had room for, which is used up before any credit. */
  #surplus: Amount = 0n;
  /** Debits that no credit was left for. */
  #uncovered: Amount = 0n;
  #count = 0;

  get worth(): Amount {
    const left = this.grants.reduce((sum, { remaining }) => sum + remaining, 0n);
    return left + this.#surplus - this.#uncovered;
  }

  get balance(): Amount {
    return this.mode === 'prepaid' && this.worth < 0n ? 0n : this.worth;
  }

  get owed(): Amount {
    return this.balance - this.worth;
  }

  /** Takes back what is left of expired credits. */
  expire(nowS: number): void {
    for (const grant of this.grants) {
      if (grant.expiresAt === null || grant.expiresAt > nowS) continue;
      grant.remaining = 0n;
      grant.isExpired = true;
    }
  }

  credit(amount: Amount, priority: number, expiresAt: number | null): void {
    const paid = smallerAmount(amount, this.#uncovered);
    this.#uncovered -= paid;
    const remaining = amount - paid;
    this.grants.push({ no: this.#count++, priority, expiresAt, amount, remaining, isExpired: false });
  }

  debit(amount: Amount): void {
    const spent = smallerAmount(amount, this.#surplus);
    this.#surplus -= spent;
    let open = amount - spent;
    for (const grant of [...this.grants].sort(burnsBefore)) {
      const used = smallerAmount(open, grant.remaining);
      grant.remaining -= used;
      open -= used;
    }
    this.#uncovered += open;
  }

  /** Returns money of usage or of a correction: each unit goes to the first place that has room for it. */
  giveBack(amount: Amount): void {
    let open = amount;
    const repaid = smallerAmount(open, this.#uncovered);
    this.#uncovered -= repaid;
    open -= repaid;
    for (const grant of [...this.grants].sort(burnsBefore).reverse()) {
      if (grant.isExpired) continue;
      const before = grant.remaining;
      grant.remaining = smallerAmount(grant.amount, before + open);
      open -= grant.remaining - before;
    }
    this.#surplus += open;
  }

  /** Whether this amount can be taken out by hand, or reserved in a prepaid wallet. */
  hasAvailable(amount: Amount): boolean {
    return this.balance - this.reserved >= amount;
  }

  release(amount: Amount): void {
    this.reserved -= smallerAmount(amount, this.reserved);
  }
}

function smallerAmount(a: Amount, b: Amount): Amount {
  return a < b ? a : b;
}

function burnsBefore(a: OracleGrant, b: OracleGrant): number {
  const expiryOf = ({ expiresAt }: OracleGrant) => expiresAt ?? Number.MAX_SAFE_INTEGER;
  return a.priority - b.priority || expiryOf(a) - expiryOf(b) || a.no - b.no;
}
