export const HOUR_S = 3_600;
export const DAY_S = 86_400;

/** The limits of every model: what they select, and how long their windows are. */
export const RULES = [
  { key: 'hour', limit: 20, selects: () => true, windowS: HOUR_S, period: 'hour', selector: ['all', ''] },
  {
    key: 'day',
    limit: 12,
    selects: (metric?: string) => metric === 'm.a',
    windowS: DAY_S,
    period: 'day',
    selector: ['metric', 'm.a'],
  },
  {
    key: 'ever',
    limit: 60,
    selects: (metric?: string) => metric?.startsWith('m.'),
    windowS: Infinity,
    period: 'lifetime',
    selector: ['metric_prefix', 'm.'],
  },
] as const;
type Rule = (typeof RULES)[number];
export const BALANCE = 50;

export interface ModelLease {
  readonly id: string;
  readonly metric: string | null;
  readonly expiresAt: number;
  readonly rules: readonly Rule[];
  status: 'active' | 'closed' | 'expired';
  held: number;
  used: number;
}

/** The expected result of the steps, computed in the simplest way. */
export class Oracle {
  readonly leases: ModelLease[] = [];
  readonly #used = new Map<string, number>();
  readonly #isPrepaid: boolean;
  #worth = BALANCE;

  constructor(isPrepaid: boolean) {
    this.#isPrepaid = isPrepaid;
  }

  reservedOf(rule: Rule): number {
    return this.leases.reduce((sum, { rules, held }) => sum + (rules.includes(rule) ? held : 0), 0);
  }

  usedOf(rule: Rule, atS: number): number {
    return this.#used.get(windowKey(rule, atS)) ?? 0;
  }

  get held(): number {
    return this.leases.reduce((sum, { held }) => sum + held, 0);
  }

  rulesFor(metricName: string | null): Rule[] {
    return RULES.filter(({ selects }) => selects(metricName ?? undefined));
  }

  grants(
    amount: number,
    metricName: string | null,
    nowS: number,
  ): 201 | 'limit_exceeded' | 'insufficient_funds' {
    for (const rule of this.rulesFor(metricName)) {
      if (Math.max(0, this.usedOf(rule, nowS)) + this.reservedOf(rule) + amount > rule.limit)
        return 'limit_exceeded';
    }
    if (!this.#isPrepaid) return 201;
    return Math.max(0, this.#worth) - this.held >= amount ? 201 : 'insufficient_funds';
  }

  end(lease: ModelLease, nowS: number): void {
    if (lease.status !== 'active') return;
    lease.status = lease.expiresAt <= nowS ? 'expired' : 'closed';
    lease.held = 0;
  }

  use(
    lease: ModelLease | undefined,
    amount: number,
    metricName: string,
    nowS: number,
    occurredAt: number,
  ): void {
    for (const rule of this.rulesFor(metricName)) {
      const key = windowKey(rule, occurredAt);
      this.#used.set(key, (this.#used.get(key) ?? 0) + amount);
    }
    this.#worth -= amount;
    if (lease === undefined || lease.status !== 'active' || lease.expiresAt <= nowS) return;
    if (lease.metric !== null && lease.metric !== metricName) return;
    lease.used = Math.max(0, lease.used + amount);
    lease.held -= Math.min(lease.held, Math.max(0, amount));
  }
}

function windowKey({ key, windowS }: Rule, atS: number): string {
  return `${key} ${windowS === Infinity ? 0 : Math.floor(atS / windowS)}`;
}
