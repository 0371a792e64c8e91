import { type Static, Type } from 'typebox';
import { closed, Nullable, UnixSeconds } from './common.js';
import { FAILURE_CODE_CHARS_MAX } from './usage.js';

const Count = Type.Integer({ minimum: 0 });

/** Requests of one key that may queue the failed events of a range at once. */
export const REPROCESSES_PER_KEY_MAX = 4;

export const ReprocessRequest = Type.Object(
  {
    from: { ...UnixSeconds, description: 'Earliest `occurred_at`, inclusive.' },
    to: { ...UnixSeconds, description: 'Latest `occurred_at`, exclusive.' },
    code: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: FAILURE_CODE_CHARS_MAX,
        description: 'Only events that failed with this code.',
      }),
    ),
  },
  { ...closed, description: 'The failed events to rate again.' },
);

export const ReprocessResponse = Type.Object(
  { count: Type.Integer({ minimum: 0, description: 'Failed events that will be rated again.' }) },
  { ...closed, description: 'The number of events that will be rated again.' },
);

export const IngestStatus = Type.Object(
  {
    accepted: { ...Count, description: 'All accepted events, duplicates included.' },
    processed: { ...Count, description: 'Rated.' },
    failed: { ...Count, description: 'Failed and not reprocessed since.' },
    voided: { ...Count, description: 'Taken back by a correction.' },
    duplicates: { ...Count, description: 'Events that were dropped because they had been received before.' },
    pending: { ...Count, description: 'Accepted and not rated yet.' },
    deferred_count: {
      ...Count,
      description:
        'Pending events that wait behind others of their tenant, because its rules are slow. Each will be rated, ' +
        'or fail with a reason.',
    },
    deferred_lag_seconds: Type.Integer({
      minimum: 0,
      description: 'Age of the oldest deferred event; 0 if there is none.',
    }),
    unpriced_count: {
      ...Count,
      description: 'Processed events with a charge item that has no price (`pricing_source` `unpriced`).',
    },
    lag_seconds: Type.Integer({
      minimum: 0,
      description: 'Age of the oldest event that is accepted but cannot be queried yet; 0 if there is none.',
    }),
    oldest_received_at: Nullable(
      Type.Integer({ description: 'When that event was received; null if there is none.' }),
    ),
  },
  {
    ...closed,
    description:
      'Counts of all accepted events by outcome: `accepted` = `processed` + `failed` + `voided` + `duplicates` + `pending`.',
  },
);

export type ReprocessRequest = Static<typeof ReprocessRequest>;
export type ReprocessResponse = Static<typeof ReprocessResponse>;
export type IngestStatus = Static<typeof IngestStatus>;
