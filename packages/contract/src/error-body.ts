import { type Static, Type } from 'typebox';
import { closed, DecimalText, Nullable } from './common.js';
import { ERRORS, type ErrorCode } from './errors.js';
import { PermissionSchema } from './permissions.js';

const decimal = (description: string) => Type.Optional({ ...DecimalText, description });
const text = (description: string) => Type.Optional(Type.String({ description }));

/** Values for programs, in addition to the message. Each occurs only with the codes in its description. */
const facts = {
  permission: Type.Optional({
    ...PermissionSchema,
    description: 'The permission that the key lacks, in `permission_denied`.',
  }),
  subject_route_id: text('The existing route of the subject, in `subject_route_exists`.'),
  order_id: text('The active order of the tenant, in `checkout_in_progress`.'),
  event_status: text('Status of the event, in `event_not_failed`.'),
  limit_key: text('Name of the limit, in `limit_exceeded`.'),
  plan_id: Type.Optional(
    Nullable(
      Type.String({
        description:
          'The usage limit plan that the limit belongs to, in `limit_exceeded`; null for a direct limit.',
      }),
    ),
  ),
  subject_type: text('Type of the subject that the limit applies to, in `limit_exceeded`.'),
  subject_id: text('Id of the subject that the limit applies to, in `limit_exceeded`.'),
  account_id: text(
    'Billing account of the subject, in `limit_exceeded`, of the wallet, in `insufficient_funds`, or that has the external id, in ' +
      '`external_id_taken`.',
  ),
  level: Type.Optional(
    Type.Integer({
      description: 'Level of the limit, in `limit_exceeded`: 0 for the subject, 1 for its parent.',
    }),
  ),
  currency: text('Currency of the amounts, in `limit_exceeded`, `lease_exceeded` and `insufficient_funds`.'),
  metric: text('Metric of the quantities, in `lease_exceeded`.'),
  limit_amount: decimal('The limit in its current window, in `limit_exceeded`.'),
  used_amount: decimal('Usage in the current window, in `limit_exceeded`.'),
  reserved_amount: decimal('Amount reserved by active budget leases, in `limit_exceeded`.'),
  available_amount: decimal(
    'Balance of the wallet minus reserved amounts, in `insufficient_funds`; or what the parent lease has left, in ' +
      '`lease_exceeded`.',
  ),
  asked_amount: decimal(
    'The amount of the request, in `limit_exceeded`, `lease_exceeded` and `insufficient_funds`.',
  ),
};

export const ErrorDetailSchema = Type.Object(
  {
    path: Type.String({
      description:
        'Place in the request, e.g. `charge_item_extractors[1].amount_expr`; in `limit_exceeded` the id of a limit; ' +
        'empty for the request as a whole.',
    }),
    message: Type.String({ description: 'The problem, or the expected value.' }),
    ...facts,
  },
  { ...closed, description: 'One finding about a request.' },
);
export type ErrorDetail = Static<typeof ErrorDetailSchema>;

export const ErrorCodeSchema = Type.Unsafe<ErrorCode>({
  type: 'string',
  enum: Object.keys(ERRORS),
  description: 'Stable code of the error, for programs. docs/errors.md lists all.',
});

/** The body of every response outside 2xx. */
export const ErrorBodySchema = Type.Object(
  {
    error: Type.String({ description: 'Explanation of the error, for people.' }),
    code: ErrorCodeSchema,
    details: Type.Optional(Type.Array(ErrorDetailSchema)),
  },
  { ...closed, description: 'An error.' },
);
export type ErrorBody = Static<typeof ErrorBodySchema>;
