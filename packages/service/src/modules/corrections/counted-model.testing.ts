import { COUNTER_AGGREGATES, type CounterAggregate, type Cumulative } from '@tollgate/contract';
import fc from 'fast-check';
import { stored } from '../../testing/index.js';
import type { CorrectionsFixture } from './corrections.testing.js';
import { countedProject, countedRules } from './counted.testing.js';
import type { Death } from './death.testing.js';
import type { CorrectionsProject, TestContent } from './project.testing.js';

/** A price of a total: its expression, and the same in JavaScript, for whole totals. */
export interface TotalPriceOfTest {
  readonly expression: string;
  readonly at: (total: number) => number;
}

const FIRST_TIER = 10;

function tiered(kind: 'graduated' | 'volume', first: number, second: number): TotalPriceOfTest {
  return {
    expression: `tier_${kind}(total.quantity, [[${FIRST_TIER}, "${first}"], [null, "${second}"]])`,
    at: (total) => {
      if (total <= FIRST_TIER) return total * first;
      return kind === 'volume' ? total * second : FIRST_TIER * first + (total - FIRST_TIER) * second;
    },
  };
}

const factor = fc.integer({ min: 1, max: 5 });

const constant = (value: number): TotalPriceOfTest => ({ expression: `dec("${value}")`, at: () => value });

/** Expressions that never fall when the total rises: sums, products, maxima and minima of such expressions. */
const { monotone } = fc.letrec<{ monotone: TotalPriceOfTest }>((tie) => ({
  monotone: fc.oneof(
    { depthSize: 'small', maxDepth: 3, withCrossShrink: true },
    fc.constant({ expression: 'total.quantity', at: (total: number) => total }),
    fc.nat(20).map(constant),
    fc.tuple(tie('monotone'), tie('monotone')).map(([a, b]) => ({
      expression: `(${a.expression} + ${b.expression})`,
      at: (total: number) => a.at(total) + b.at(total),
    })),
    fc.tuple(tie('monotone'), fc.nat(4)).map(([a, times]) => ({
      expression: `(${a.expression} * dec("${times}"))`,
      at: (total: number) => a.at(total) * times,
    })),
    fc.tuple(tie('monotone'), tie('monotone')).map(([a, b]) => ({
      expression: `dec_max(${a.expression}, ${b.expression})`,
      at: (total: number) => Math.max(a.at(total), b.at(total)),
    })),
    fc.tuple(tie('monotone'), tie('monotone')).map(([a, b]) => ({
      expression: `dec_min(${a.expression}, ${b.expression})`,
      at: (total: number) => Math.min(a.at(total), b.at(total)),
    })),
  ),
}));

/** Prices of totals: tiers, packages, a minimum, a cap, and any expression that does not fall. */
export const anyPrice: fc.Arbitrary<TotalPriceOfTest> = fc.oneof(
  { weight: 2, arbitrary: monotone },
  fc.tuple(fc.constantFrom('graduated', 'volume'), factor, factor).map(([kind, a, b]) => tiered(kind, a, b)),
  fc.tuple(factor, factor).map(([size, price]) => ({
    expression: `tier_package(total.quantity, ${size}, "${price}")`,
    at: (total: number) => Math.ceil(total / size) * price,
  })),
  factor.map((price) => ({
    expression: `dec_max(total.quantity * dec("${price}"), dec("12"))`,
    at: (total: number) => Math.max(total * price, 12),
  })),
  factor.map((price) => ({
    expression: `dec_min(total.quantity * dec("${price}"), dec("25"))`,
    at: (total: number) => Math.min(total * price, 25),
  })),
);

/** The usage that has totals of its own. */
export type CountedScope = Required<Pick<Cumulative, 'per' | 'by'>>;
export const anyScope: fc.Arbitrary<CountedScope> = fc.record({
  per: fc.constantFrom('subject', 'subject', 'account', 'project'),
  by: fc.constantFrom([], ['model']),
});

/** How a test counts. */
export interface Counting {
  readonly aggregate: CounterAggregate;
  readonly scope: CountedScope;
}

/** A project with counters of days, and what the test knows about it. */
export class CountedModel {
  readonly ids: string[] = [];
  readonly corrections: string[] = [];
  /** Whether prices of several versions are in a counter: then its amount is not the price of its total. */
  isMixed = false;
  #versions = 1;

  private constructor(
    readonly project: CorrectionsProject,
    readonly counting: Counting,
    public price: TotalPriceOfTest,
  ) {}

  static async create(
    fixture: CorrectionsFixture,
    counting: Counting,
    price: TotalPriceOfTest,
  ): Promise<CountedModel> {
    const project = await countedProject(fixture, rulesOf(counting, price));
    await project.route('a');
    return new CountedModel(project, counting, price);
  }

  get hasVersions(): boolean {
    return this.#versions > 1;
  }

  async send(contents: readonly TestContent[], daysAgo: number): Promise<void> {
    this.ids.push(...(await this.project.send(contents, 100 + daysAgo * 86_400)));
    await this.project.fixture.rate();
  }

  /** Publishes another price for all times. */
  async reprice(price: TotalPriceOfTest): Promise<void> {
    const path = `/extractor-rule-sets/${this.project.ruleSetId}`;
    await this.project.must(200, 'PUT', path, countedRules(rulesOf(this.counting, price)));
    await this.project.must(200, 'POST', `${path}/publish`);
    this.price = price;
    this.#versions++;
    this.isMixed = true;
  }

  /** Does the steps of corrections. One process may die meanwhile, and then events come before another one goes on. */
  async finish(dies: Death | undefined, meanwhile: readonly TestContent[]): Promise<void> {
    const { fixture } = this.project;
    if (dies !== undefined && (await fixture.advanceUntil(dies)) && meanwhile.length > 0)
      await this.send(meanwhile, 0);
    await fixture.finish(2);
  }

  /** Returns each period in which something is charged: what is stored, and what follows from the rows in force. */
  async compare(): Promise<{
    readonly stored: string[];
    readonly charged: string[];
    readonly priced: string[];
  }> {
    const { fixture, projectId } = this.project;
    const counters = await fixture.rows<StoredCounter>(
      `select encode(key, 'hex') as key, subject_id as subject, account_id as account, by_dimensions as by, period_start as "startS", trim_scale(quantity)::text as quantity,
         trim_scale(amount)::text as amount, item_count as "itemCount", value_count as "valueCount"
       from usage_counters where project_id = $1`,
      [projectId],
    );
    const events = await this.#rowsInForce();
    const charged = counters.map((counter) => {
      const { key, startS } = counter;
      const counted = events.filter(
        (row) => row.source !== 'correction' && isOf(row, counter) && row.startS === startS,
      );
      const left = events.filter(
        (row) => row.source === 'correction' && row.key === key && row.startS === startS,
      );
      const amount = [...counted, ...left].reduce((sum, row) => sum + stored(row.amount), 0n);
      const [total, values] = totalOf(this.counting.aggregate, counted);
      return text({
        key,
        quantity: total,
        amount: textOf(amount),
        itemCount: counted.length,
        valueCount: values,
      });
    });
    return {
      stored: counters.map(text),
      charged,
      priced: counters
        .filter(({ itemCount }) => itemCount > 0)
        .map(({ key, quantity }) => `${key} ${this.price.at(Number(quantity))}`),
    };
  }

  async #rowsInForce(): Promise<RowInForce[]> {
    const { fixture, projectId } = this.project;
    const tables = await fixture.history.scopeOf({ ...(await this.#ref()) });
    const table = tables.storage === 'dedicated' ? `usage_events_${tables.projectNo}` : 'usage_events';
    return fixture.house.clickhouse.query<RowInForce>(
      `SELECT subject_id AS subject, account_id AS account, item.source AS source, toString(item.amount + item.discount) AS amount,
         toString(item.quantity) AS quantity, dimensions['model'] AS model,
         JSONExtractString(item.cumulative, 'key') AS key, JSONExtractUInt(item.cumulative, 'period_start')::UInt32 AS startS
       FROM ${table} ARRAY JOIN item WHERE project_id = {project:String} AND NOT is_counter AND item.cumulative != ''
         AND (raw_event_id, corrections) NOT IN (
           SELECT raw_event_id, corrections FROM ${table} WHERE project_id = {project:String} AND is_counter)`,
      { project: projectId },
    );
  }

  async #ref() {
    const { fixture, projectId, tenantId } = this.project;
    const [row] = await fixture.rows<{ projectNo: number; kind: 'live'; storage: 'shared' | 'dedicated' }>(
      'select no as "projectNo", kind, storage from projects where id = $1',
      [projectId],
    );
    if (row === undefined) throw new Error('no project');
    return { tenantId, projectId, ...row };
  }
}

interface StoredCounter {
  readonly key: string;
  /** Empty unless the counter is one of a subject. */
  readonly subject: string;
  /** Empty unless the counter is one of an account. */
  readonly account: string;
  readonly by: { readonly model?: string | null };
  readonly startS: number;
  readonly quantity: string;
  readonly amount: string;
  readonly itemCount: number;
  readonly valueCount: number;
}

interface RowInForce {
  readonly subject: string;
  readonly account: string;
  readonly source: string;
  readonly amount: string;
  readonly quantity: string;
  readonly model: string;
  readonly key: string;
  readonly startS: number;
}

/** Whether a counter counts the charge item of a row. */
function isOf(row: RowInForce, { subject, account, by }: StoredCounter): boolean {
  if (subject !== '' && row.subject !== subject) return false;
  if (account !== '' && row.account !== account) return false;
  return by.model === undefined || row.model === (by.model ?? '');
}

function rulesOf({ aggregate, scope }: Counting, { expression }: TotalPriceOfTest) {
  const of = aggregate === 'unique' ? { of: 'model' } : {};
  return { total: expression, cumulative: { aggregate, period: 'day', ...scope, ...of } };
}

/** Returns the total of items, and the number of values that are kept for it. */
function totalOf(aggregate: CounterAggregate, items: readonly RowInForce[]): [string, number] {
  const quantities = items.map(({ quantity }) => Number(quantity));
  const models = new Set(items.map(({ model }) => model).filter((model) => model !== ''));
  switch (aggregate) {
    case 'sum':
      return [String(quantities.reduce((sum, each) => sum + each, 0)), 0];
    case 'count':
      return [String(items.length), 0];
    case 'max':
      return [String(Math.max(0, ...quantities)), new Set(quantities).size];
    case 'unique':
      return [String(models.size), models.size];
  }
}

function textOf(amount: bigint): string {
  return String(Number(amount) / 1e18);
}

function text({
  key,
  quantity,
  amount,
  itemCount,
  valueCount,
}: Omit<StoredCounter, 'subject' | 'account' | 'by' | 'startS'>): string {
  return `${key}: ${quantity} for ${amount}, ${itemCount} items, ${valueCount} values`;
}

export const anyCounting: fc.Arbitrary<Counting> = fc.record({
  aggregate: fc.constantFrom<CounterAggregate>(...COUNTER_AGGREGATES),
  scope: anyScope,
});
