import { type Static, Type } from 'typebox';
import { DimensionTexts } from './analysis.js';
import {
  closed,
  DecimalText,
  Nullable,
  PageQuery,
  pageFields,
  UNIX_SECONDS_MAX,
  UnixSeconds,
} from './common.js';
import { IDENTIFIER_CHARS_MAX, NAME_CHARS_MAX } from './limits.js';

const Text = Type.String();
const id = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: IDENTIFIER_CHARS_MAX, description }));

export const CounterListQuery = Type.Object(
  {
    counter: Type.Optional(
      Type.String({ minLength: 1, maxLength: NAME_CHARS_MAX, description: 'Only counters of this name.' }),
    ),
    rule_set_id: id('Only counters of this rule set.'),
    subject_type: id('Only counters of subjects of this type.'),
    subject_id: id('Only counters of this subject.'),
    account_id: id('Only counters of this account.'),
    at: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: UNIX_SECONDS_MAX,
        description: 'Unix seconds: the periods that contain this time; default: now.',
      }),
    ),
    ...PageQuery.properties,
  },
  closed,
);

export const CounterStep = Type.Object(
  {
    at_quantity: { ...DecimalText, description: 'The total above which the price changes.' },
    unit_price: {
      ...DecimalText,
      description: 'The price of a unit above it; with `tier_package`, the price of the next package.',
    },
  },
  { ...closed, description: 'The next change of the price.' },
);

export const CounterView = Type.Object(
  {
    counter: Text,
    rule_set_id: Text,
    subject_type: Nullable(Text),
    subject_id: Nullable(Text),
    account_id: Nullable(Text),
    by: {
      ...DimensionTexts,
      description: 'The values of the dimensions by which the counter is split; null for an absent one.',
    },
    period_start: UnixSeconds,
    period_end: Nullable({ ...UnixSeconds, description: 'Exclusive; null for a lifetime.' }),
    quantity: { ...DecimalText, description: 'The total so far.' },
    amount: { ...DecimalText, description: 'The amount so far, before discounts.' },
    currency: Text,
    next_step: Nullable(CounterStep),
  },
  {
    ...closed,
    description:
      'A counter in one period. `next_step` is null in the last tier, and for a price that is not `tier_graduated`, `tier_volume` ' +
      'or `tier_package` of `total.quantity` with literal tiers.',
  },
);

export const CounterPage = Type.Object(
  { counters: Type.Array(CounterView), ...pageFields },
  { ...closed, description: 'One page of counters, by rule set, name, period and owner.' },
);

export type CounterListQuery = Static<typeof CounterListQuery>;
export type CounterStep = Static<typeof CounterStep>;
export type CounterView = Static<typeof CounterView>;
export type CounterPage = Static<typeof CounterPage>;
