import { type Static, Type } from 'typebox';
import { closed, DecimalText, decimalInput } from './common.js';
import { DimensionInputs } from './lease-holds.js';
import { CURRENCY_PATTERN, METRIC_PATTERN } from './limits.js';
import { RealtimeLimit, subjectFields } from './realtime-limits.js';
import { Warnings } from './warnings.js';

export const RealtimeCheckBody = Type.Object(
  {
    ...subjectFields,
    metric: Type.Optional(
      Type.String({
        pattern: METRIC_PATTERN,
        description: 'Metric of the usage. Without it, only limits on all usage are checked.',
      }),
    ),
    dimensions: Type.Optional({
      ...DimensionInputs,
      description:
        'Dimensions of the usage. A limit on a dimension, or a `unique` limit of it, is checked only if the ' +
        'dimension is given.',
    }),
    quantity: Type.Optional(decimalInput('Quantity of the usage; not negative.')),
    amount: Type.Optional(decimalInput('Expected cost, in `currency`; not negative.')),
    currency: Type.Optional(
      Type.String({
        pattern: CURRENCY_PATTERN,
        description: 'Required with `amount`. Without it, limits on amounts in all currencies are checked.',
      }),
    ),
  },
  { ...closed, description: 'Usage to check before it happens.' },
);

export const BlockingWallet = Type.Object(
  {
    account_id: Type.String(),
    currency: Type.String(),
    available: { ...DecimalText, description: 'Balance minus reserved amounts.' },
  },
  {
    ...closed,
    description: 'The prepaid wallet with too little available. Absent if no wallet blocks the usage.',
  },
);

export const RealtimeCheck = Type.Object(
  {
    allowed: Type.Boolean({
      description:
        'Whether the usage fits in every `block` limit of every level that would count it, in addition to used and ' +
        'reserved amounts, and a prepaid wallet can pay it.',
    }),
    blocked_by: Type.Array(RealtimeLimit, { description: 'The limits that block the usage.' }),
    blocked_by_wallet: Type.Optional(BlockingWallet),
    reason: Type.Optional(
      Type.Unsafe<'unknown_subject'>({
        type: 'string',
        enum: ['unknown_subject'],
        description: 'The subject has no route, and the project denies such subjects. Absent otherwise.',
      }),
    ),
    warnings: Warnings,
  },
  { ...closed, description: 'Whether the usage is allowed, and the limits that block it.' },
);

export type RealtimeCheckBody = Static<typeof RealtimeCheckBody>;
export type RealtimeCheck = Static<typeof RealtimeCheck>;
