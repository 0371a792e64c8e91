import { type Static, Type } from 'typebox';
import { closed, DecimalText, decimalInput, mapOf } from './common.js';
import {
  CURRENCY_PATTERN,
  LEASE_DIMENSIONS_BYTES_MAX,
  METRIC_PATTERN,
  RULE_SET_DIMENSIONS_MAX,
} from './limits.js';

/** Upper bound of the amounts and quantities that one lease holds. */
export const LEASE_HOLDS_MAX = 20;

const currency = Type.Optional(
  Type.String({
    pattern: CURRENCY_PATTERN,
    description: 'Currency of `amount`: an ISO 4217 code, or a unit of your own.',
  }),
);
const metric = Type.Optional(Type.String({ pattern: METRIC_PATTERN, description: 'Metric of `quantity`.' }));

export const LeaseHoldInput = Type.Object(
  {
    amount: Type.Optional(decimalInput('Amount to reserve; above 0. Needs `currency`.')),
    currency,
    quantity: Type.Optional(decimalInput('Quantity to reserve; above 0. Needs `metric`.')),
    metric,
  },
  {
    ...closed,
    description: 'An amount of a currency, or a quantity of a metric. A lease has one of each at most.',
  },
);

export const LeaseHold = Type.Object(
  {
    amount: Type.Optional({ ...DecimalText, description: 'The amount that was reserved.' }),
    currency,
    quantity: Type.Optional({ ...DecimalText, description: 'The quantity that was reserved.' }),
    metric,
    used: {
      ...DecimalText,
      description:
        'Usage of the events that were charged against the lease, 0 or more; can exceed what was reserved.',
    },
    remaining: {
      ...DecimalText,
      description:
        'What the lease still reserves; `"0"` once it has ended. Parts of child leases are theirs.',
    },
  },
  { ...closed, description: 'What a lease reserves of one currency or metric.' },
);

export const DimensionInput = Type.Union([Type.String(), Type.Number(), Type.Boolean()], {
  description: 'Value of a dimension.',
});

/** The dimensions of usage that has not happened yet, by name. */
export const DimensionInputs = mapOf(DimensionInput, {
  maxProperties: RULE_SET_DIMENSIONS_MAX,
  description:
    'Dimensions of the work: the lease is then also reserved in limits on these values, and pays only for events ' +
    'with all of them. Without them, limits on a dimension are left out. With those of the parent lease, at most ' +
    `${RULE_SET_DIMENSIONS_MAX}, and ${LEASE_DIMENSIONS_BYTES_MAX} bytes of names and values together.`,
});

export const LeaseDimensions = mapOf(Type.String(), {
  maxProperties: RULE_SET_DIMENSIONS_MAX,
  description: 'Dimensions of the work, as text; empty without any.',
});

export type LeaseHoldInput = Static<typeof LeaseHoldInput>;
export type LeaseHold = Static<typeof LeaseHold>;
