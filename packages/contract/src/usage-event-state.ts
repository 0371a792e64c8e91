import { Type } from 'typebox';

export const EventStatusSchema = Type.Union(
  [Type.Literal('processed'), Type.Literal('failed'), Type.Literal('voided')],
  {
    description:
      'Result of rating. `processed`: the event has charge items; `failed`: its rules could not rate it; `voided`: ' +
      'a correction took back all of its charge items.',
  },
);

export const EventPostingSchema = Type.Union(
  [Type.Literal('posted'), Type.Literal('unpriced'), Type.Literal('unrouted')],
  {
    description:
      'Effect of the event on a wallet. `posted`: its amounts were posted; `unpriced`: nothing was posted ' +
      'because no charge item has a price; `unrouted`: nothing was posted because the subject had no route. Null ' +
      'for a failed event.',
  },
);

export const EventLeaseStatusSchema = Type.Union(
  [Type.Literal('applied'), Type.Literal('closed'), Type.Literal('expired'), Type.Literal('unknown')],
  {
    description:
      'Status of the budget lease when the event was rated. `applied`: the event was charged against it; ' +
      '`closed`, `expired`: the lease had ended; `unknown`: the subject has no lease with this id, or it ended ' +
      'more than 90 days before. Null without a lease, and for a failed event.',
  },
);
