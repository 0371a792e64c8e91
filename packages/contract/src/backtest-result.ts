import { type Static, Type } from 'typebox';
import { closed, DecimalText, Nullable, UnixSeconds } from './common.js';
import { UsageEventFailure } from './usage.js';
import { UsageChargeItem } from './usage-item.js';

/** Upper bound of the totals of a backtest: metrics × units × currencies. */
export const BACKTEST_TOTALS_MAX = 1_000;
/** Examples per currency, currencies with examples, and charge items that one side of an example shows. */
export const BACKTEST_EXAMPLES_MAX = 20;
export const BACKTEST_EXAMPLE_CURRENCIES_MAX = 10;
export const BACKTEST_EXAMPLE_ITEMS_MAX = 50;

const Count = Type.Integer({ minimum: 0 });

export const BacktestSums = Type.Object(
  {
    item_count: { ...Count, description: 'Charge items, without amounts that corrections have left.' },
    quantity: DecimalText,
    amount: DecimalText,
    cost: { ...DecimalText, description: 'Costs in the same currency.' },
  },
  { ...closed, description: 'Sums of charge items, as they are or as they would be.' },
);

export const BacktestTotal = Type.Object(
  {
    metric: Type.String(),
    unit: Nullable(Type.String()),
    currency: Nullable(Type.String({ description: 'Null for unpriced items.' })),
    before: BacktestSums,
    after: BacktestSums,
  },
  {
    ...closed,
    description:
      'Sums of one metric: as charged now (`before`), with amounts that corrections have left, also on voided events; ' +
      'and by the tested rules (`after`).',
  },
);

export const FailureCodeCount = Type.Object(
  { code: Type.String(), count: Count },
  { ...closed, description: 'Number of events that failed, or would fail, with a code.' },
);
const codeCounts = (description: string) => Type.Array(FailureCodeCount, { description });

export const BacktestSide = Type.Object(
  {
    charge_items: Type.Array(UsageChargeItem, {
      description:
        `The first ${BACKTEST_EXAMPLE_ITEMS_MAX} charge items, without \`ledger_transaction_id\`; empty for an event ` +
        'that fails.',
    }),
    charge_item_count: Count,
    failure: Nullable(UsageEventFailure),
  },
  { ...closed, description: 'The result of an event by one of the two sets of rules.' },
);

export const BacktestExample = Type.Object(
  {
    raw_event_id: Type.String(),
    occurred_at: UnixSeconds,
    currency: Nullable(Type.String({ description: 'Null if something other than an amount differs.' })),
    amount_difference: Type.String({
      description: 'Amount by the tested rules minus the charged amount, in that currency; exact.',
    }),
    before: BacktestSide,
    after: BacktestSide,
  },
  { ...closed, description: 'An event with a different result by the tested rules.' },
);

export const BacktestResult = Type.Object(
  {
    from: Type.Integer({ description: 'Start of the requested range, inclusive.' }),
    to: Type.Integer({ description: 'Exclusive.' }),
    event_count: Type.Integer({ minimum: 0, description: 'Events that were rated.' }),
    changed_count: Type.Integer({
      minimum: 0,
      description:
        'Events whose charge items differ in metric, unit, quantity, unit price, amount, currency or cost, or whose ' +
        'failure differs.',
    }),
    newly_failed: codeCounts(
      'Events that were processed and would fail by the tested rules, by failure code.',
    ),
    newly_succeeded: codeCounts(
      'Events that failed and would be processed by the tested rules, by failure code.',
    ),
    totals: Type.Array(BacktestTotal, { description: 'Sums by metric, unit and currency.' }),
    examples: Type.Array(BacktestExample, {
      description: `By currency, up to ${BACKTEST_EXAMPLES_MAX} events whose amount in it differs most.`,
    }),
    cut_by: Type.Array(Type.Enum(['events', 'time', 'totals']), {
      description:
        'Bounds that were reached. `events`, `time`: later events of the time range were left out; `totals`: ' +
        `totals beyond ${BACKTEST_TOTALS_MAX} were left out.`,
    }),
  },
  { ...closed, description: 'The differences between the tested rules and the active ones.' },
);

export type BacktestTotal = Static<typeof BacktestTotal>;
export type BacktestExample = Static<typeof BacktestExample>;
export type BacktestResult = Static<typeof BacktestResult>;
