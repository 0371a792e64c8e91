import { COUNTER_AGGREGATES, type CounterAggregate } from '@tollgate/contract';
import fc from 'fast-check';
import type { CorrectionsFixture } from './corrections.testing.js';
import { countedProject, countedRules } from './counted.testing.js';
import {
  type CountedContent,
  CountedOracle,
  type Counting,
  type ExpectedPeriod,
  nameOfPeriod,
} from './counted-oracle.testing.js';
import {
  type CounterInPeriod,
  type ItemInForce,
  isChargedIn,
  itemsInForce,
  overlappingStarts,
  storedCounters,
  storedPeriodAt,
} from './counted-rows.testing.js';
import type { Death } from './death.testing.js';
import { LOCAL_PERIODS, type LocalSettings, periodName } from './local-periods.testing.js';
import type { CorrectionsProject } from './project.testing.js';
import type { Cut, RatingWorkers } from './rating-workers.testing.js';
import { type ExactPrice, exact, exactText } from './total-prices.testing.js';

const DAY_S = 86_400;
/** Longer ago than all events of the tests. */
const PAST_S = 500 * DAY_S;

/** The usage that has totals of its own. */
export type CountedScope = Pick<Counting, 'per' | 'by'>;
export const anyScope: fc.Arbitrary<CountedScope> = fc.record({
  per: fc.constantFrom('subject', 'subject', 'account', 'project'),
  by: fc.constantFrom<string[]>([], ['model']),
});

export const anyCounting: fc.Arbitrary<Counting> = fc
  .record({
    aggregate: fc.constantFrom<CounterAggregate>('sum', ...COUNTER_AGGREGATES),
    period: fc.constantFrom(...LOCAL_PERIODS),
    scope: anyScope,
  })
  .map(({ scope, ...counting }) => ({ ...counting, ...scope }));

/** An event that is sent. */
export interface SentEvent {
  readonly content: CountedContent;
  /** Unix seconds. */
  readonly atS: number;
}

/** Events that are sent in requests of their own, rated at the same time by workers of which one may be cut. */
export interface Arrival {
  readonly requests: readonly (readonly SentEvent[])[];
  readonly cut: Cut | undefined;
}

/** The clocks of the customers `a` and `b`, and of their account. The customer `c` has no route. */
export interface Clocks {
  readonly a: LocalSettings;
  readonly b: LocalSettings;
  readonly account: LocalSettings;
}

/** A project with counters, and what the test knows about it. */
export class CountedModel {
  readonly corrections: string[] = [];
  /** Whether prices of several versions are in a counter: then its amount is not the price of its total. */
  isMixed = false;
  #versions = 1;
  #keys = 0;
  #areClocksChanged = false;
  readonly #paths: Readonly<Record<keyof Clocks, string>>;

  private constructor(
    readonly project: CorrectionsProject,
    readonly workers: RatingWorkers,
    readonly counting: Counting,
    readonly oracle: CountedOracle,
    readonly accountId: string,
    public price: ExactPrice,
    paths: Readonly<Record<keyof Clocks, string>>,
  ) {
    this.#paths = paths;
  }

  static async create(
    workers: RatingWorkers,
    fixture: CorrectionsFixture,
    counting: Counting,
    price: ExactPrice,
    clocks: Clocks,
  ): Promise<CountedModel> {
    const project = await countedProject(fixture, rulesOf(counting, price));
    const { timezone, anchorS: anchor } = clocks.account;
    const { id: accountId } = await project.must(201, 'POST', '/accounts', { name: 'ab', timezone, anchor });
    const oracle = new CountedOracle(counting);
    // Weeks of an account begin on Monday.
    const account = { ...clocks.account, weekStart: 'monday' as const };
    const paths = { a: '', b: '', account: `/accounts/${accountId}` };
    for (const customer of ['a', 'b'] as const) {
      const route = clocks[customer];
      const { id } = await project.must(201, 'POST', '/subject-routes', {
        ...{ subject_type: 'customer', subject_id: customer, account_id: accountId },
        ...{ timezone: route.timezone, week_start: route.weekStart, usage_limit_anchor: route.anchorS },
      });
      paths[customer] = `/subject-routes/${id}`;
      oracle.customers.set(customer, { accountId, route, account });
    }
    return new CountedModel(project, workers, counting, oracle, accountId, price, paths);
  }

  get hasVersions(): boolean {
    return this.#versions > 1;
  }

  /** A filter of all events. */
  get everything() {
    const { nowS } = this.project.fixture;
    return { from: nowS - PAST_S, to: nowS + DAY_S };
  }

  async accept(requests: Arrival['requests']): Promise<void> {
    for (const sent of requests) {
      const events = sent.map(({ content, atS }) => ({
        ...{ extractor_rule_set_id: this.project.ruleSetId, idempotency_key: `key-${this.#keys++}` },
        ...{ occurred_at: atS, raw_json: content },
      }));
      const body = { source: 'test', events };
      const { raw_event_ids: ids } = await this.project.must(202, 'POST', '/events/batch-ingest', body);
      for (const [index, { content, atS }] of sent.entries()) this.oracle.send(ids[index], atS, content);
    }
  }

  async send({ requests, cut }: Arrival): Promise<void> {
    await this.accept(requests);
    await this.workers.rate(cut);
  }

  /** Publishes another price for all times. */
  async reprice(price: ExactPrice): Promise<void> {
    const path = `/extractor-rule-sets/${this.project.ruleSetId}`;
    await this.project.must(200, 'PUT', path, countedRules(rulesOf(this.counting, price)));
    await this.project.must(200, 'POST', `${path}/publish`);
    this.price = price;
    this.#versions++;
    this.isMixed = true;
  }

  /** Does the steps of corrections. One process may die meanwhile; others go on while events arrive and are rated. */
  async finish(dies: Death | undefined, meanwhile: Arrival): Promise<void> {
    const { fixture } = this.project;
    if (dies !== undefined) await fixture.advanceUntil(dies);
    await this.accept(meanwhile.requests);
    await Promise.all([fixture.finish(2), this.workers.rate(meanwhile.cut)]);
  }

  /** Records what a correction has changed. */
  async corrected(
    id: string,
    content: (former: CountedContent | undefined) => CountedContent | undefined,
  ): Promise<void> {
    const rows = await this.project.fixture.rows<{ id: string }>(
      `select 'evt_' || replace(unnest(raw_event_ids)::text, '-', '') as id from usage_correction_parts
       where correction_id = $1 and is_applied`,
      [id],
    );
    this.oracle.correct(
      id,
      rows.map((row) => row.id),
      content,
    );
    this.corrections.push(id);
  }

  /** Changes the clocks of the customers and of their account: their next periods go by them. */
  async changeClocks({ account, ...routes }: Clocks): Promise<void> {
    const { timezone, anchorS: anchor } = account;
    await this.project.must(200, 'PUT', this.#paths.account, { timezone, anchor });
    for (const customer of ['a', 'b'] as const) {
      const route = routes[customer];
      await this.project.must(200, 'PUT', this.#paths[customer], {
        ...{ timezone: route.timezone, week_start: route.weekStart, usage_limit_anchor: route.anchorS },
      });
    }
    this.#areClocksChanged = true;
  }

  /** Returns the periods that are stored, with what is charged in each, and those that the oracle expects. */
  async compare(): Promise<Comparison> {
    const counters = await storedCounters(this.project);
    const items = await itemsInForce(this.project);
    const sumOf = (isWanted: (item: ItemInForce) => boolean) =>
      items.filter(isWanted).reduce((sum, { amount }) => sum + exact(amount), 0n);
    const stored = counters.map((counter): StoredPeriod => {
      const { itemCount, valueCount, quantity, amount } = counter;
      return {
        name: this.#nameOf(counter),
        content: `${exactText(exact(quantity))}, ${itemCount} items, ${valueCount} values`,
        isEmpty: itemCount === 0,
        amount: exactText(exact(amount)),
        charged: exactText(sumOf((item) => isChargedIn(item, counter))),
      };
    });
    const expected = this.oracle.periods(this.price, (owner, atS) =>
      this.#areClocksChanged
        ? storedPeriodAt(counters, owner, atS)
        : periodName(this.counting.period, this.oracle.settingsOf(owner), atS),
    );
    return {
      stored: stored.sort((a, b) => (a.name < b.name ? -1 : 1)),
      expected,
      overlapping: overlappingStarts(counters),
      balance: (await this.project.balance(this.accountId)) ?? '0',
      debited: exactText(-sumOf(({ account }) => account === this.accountId)),
    };
  }

  /** Returns the name of a stored period, which must begin with the first second of that name. */
  #nameOf({ subject, account, by, startS }: CounterInPeriod): string {
    const values = Object.values(by);
    const owner = { subject, account, values };
    if (this.#areClocksChanged) return nameOfPeriod(owner, `from ${startS}`);
    const { period } = this.counting;
    const settings = this.oracle.settingsOf(owner);
    const name = periodName(period, settings, startS);
    const isFirst = periodName(period, settings, startS - 1) !== name;
    return nameOfPeriod(owner, isFirst ? name : `${name} from ${startS}`);
  }
}

/** A period as it is stored. */
export interface StoredPeriod extends Omit<ExpectedPeriod, 'price'> {
  readonly isEmpty: boolean;
  readonly amount: string;
  /** The sum of the amounts of the charge items in force, with what is left of those that were taken out. */
  readonly charged: string;
}

export interface Comparison {
  readonly stored: StoredPeriod[];
  readonly expected: ExpectedPeriod[];
  /** Starts of periods that have an instant in common with another one of their counter. */
  readonly overlapping: number[];
  /** The balance of the account, and the sum of its charge items. */
  readonly balance: string;
  readonly debited: string;
}

function rulesOf({ aggregate, period, per, by }: Counting, { expression }: ExactPrice) {
  const of = aggregate === 'unique' ? { of: 'model' } : {};
  return {
    total: expression,
    cumulative: { aggregate, period, per, by, ...of },
    extractor: { type: 'decimal_string' as const },
  };
}
