import { COUNTER_AGGREGATES, type CounterAggregate } from '@tollgate/contract';
import fc from 'fast-check';
import type { CorrectionsFixture } from './corrections.testing.js';
import { countedProject, countedRules } from './counted.testing.js';
import {
  type CountedContent,
  CountedOracle,
  type Counting,
  type ExpectedPeriod,
} from './counted-oracle.testing.js';
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

  private constructor(
    readonly project: CorrectionsProject,
    readonly workers: RatingWorkers,
    readonly counting: Counting,
    readonly oracle: CountedOracle,
    readonly accountId: string,
    public price: ExactPrice,
  ) {}

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
    for (const customer of ['a', 'b'] as const) {
      const route = clocks[customer];
      await project.must(201, 'POST', '/subject-routes', {
        ...{ subject_type: 'customer', subject_id: customer, account_id: accountId },
        ...{ timezone: route.timezone, week_start: route.weekStart, usage_limit_anchor: route.anchorS },
      });
      oracle.customers.set(customer, { accountId, route, account });
    }
    return new CountedModel(project, workers, counting, oracle, accountId, price);
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

  /** Returns the periods that are stored, and what the charge items in force add up to in each. */
  async periods(): Promise<{
    readonly stored: StoredPeriod[];
    readonly balance: string;
    readonly debited: string;
  }> {
    const { fixture, projectId } = this.project;
    const counters = await fixture.rows<CounterRow>(
      `select encode(key, 'hex') as key, subject_id as subject, account_id as account, by_dimensions as by,
         period_start as "startS", quantity::text, amount::text, item_count as "itemCount", value_count as "valueCount"
       from usage_counters where project_id = $1`,
      [projectId],
    );
    const items = await this.#itemsInForce();
    const sumOf = (isWanted: (item: ItemRow) => boolean) =>
      items.filter(isWanted).reduce((sum, { amount }) => sum + exact(amount), 0n);
    const stored = counters.map((row): StoredPeriod => {
      const charged = sumOf((item) => isOf(item, row));
      const { itemCount, valueCount } = row;
      return {
        name: this.#nameOf(row),
        content: `${exactText(exact(row.quantity))}, ${itemCount} items, ${valueCount} values`,
        isEmpty: itemCount === 0,
        amount: exactText(exact(row.amount)),
        charged: exactText(charged),
      };
    });
    return {
      stored: stored.sort((a, b) => (a.name < b.name ? -1 : 1)),
      balance: (await this.project.balance(this.accountId)) ?? '0',
      debited: exactText(-sumOf(({ account }) => account === this.accountId)),
    };
  }

  /** Returns the name of a stored period, which must begin with the first second of that name. */
  #nameOf({ subject, account, by, startS }: CounterRow): string {
    const { period } = this.counting;
    const settings = this.oracle.settingsOf(subject, account);
    const name = periodName(period, settings, startS);
    const isFirst = periodName(period, settings, startS - 1) !== name;
    return JSON.stringify([subject, account, Object.values(by), isFirst ? name : `${name} from ${startS}`]);
  }

  async #itemsInForce(): Promise<ItemRow[]> {
    const { fixture, projectId } = this.project;
    return fixture.house.clickhouse.query<ItemRow>(
      `SELECT subject_id AS subject, account_id AS account, toString(item.amount + item.discount) AS amount,
         dimensions['model'] AS model, item.source AS source, JSONExtractString(item.cumulative, 'key') AS key,
         JSONExtractUInt(item.cumulative, 'period_start')::UInt32 AS startS
       FROM usage_events ARRAY JOIN item WHERE project_id = {project:String} AND NOT is_counter AND item.cumulative != ''
         AND (raw_event_id, corrections) NOT IN (
           SELECT raw_event_id, corrections FROM usage_events WHERE project_id = {project:String} AND is_counter)`,
      { project: projectId },
    );
  }
}

/** A period as it is stored. */
export interface StoredPeriod extends Omit<ExpectedPeriod, 'price'> {
  readonly isEmpty: boolean;
  readonly amount: string;
  /** The sum of the amounts of the charge items in force, with what is left of those that were taken out. */
  readonly charged: string;
}

interface CounterRow {
  readonly key: string;
  /** Empty unless the counter is one of a subject. */
  readonly subject: string;
  /** Empty unless the counter is one of an account. */
  readonly account: string;
  readonly by: Readonly<Record<string, string | null>>;
  readonly startS: number;
  readonly quantity: string;
  readonly amount: string;
  readonly itemCount: number;
  readonly valueCount: number;
}

interface ItemRow {
  readonly subject: string;
  readonly account: string;
  readonly amount: string;
  readonly model: string;
  readonly source: string;
  /** The counter of which a remainder is left; empty for other items. */
  readonly key: string;
  readonly startS: number;
}

/** Whether an item, or what is left of one, is charged in a period. An item without a total is in none. */
function isOf(item: ItemRow, { key, subject, account, by, startS }: CounterRow): boolean {
  if (item.startS !== startS) return false;
  if (item.source === 'correction') return item.key === key;
  if (subject !== '' && item.subject !== subject) return false;
  if (account !== '' && item.account !== account) return false;
  return by.model === undefined || item.model === (by.model ?? '');
}

function rulesOf({ aggregate, period, per, by }: Counting, { expression }: ExactPrice) {
  const of = aggregate === 'unique' ? { of: 'model' } : {};
  return {
    total: expression,
    cumulative: { aggregate, period, per, by, ...of },
    extractor: { type: 'decimal_string' as const },
  };
}
