import { type Static, Type } from 'typebox';
import { closed, UnixSeconds } from './common.js';
import { UsageEventsQuery } from './usage.js';

/** Upper bound of the concurrent exports of one key. */
export const EXPORTS_PER_KEY_MAX = 2;

const {
  limit: _limit,
  cursor: _cursor,
  count: _count,
  from: _from,
  to: _to,
  ...filters
} = UsageEventsQuery.properties;

export const ExportFormatSchema = Type.Union([Type.Literal('csv'), Type.Literal('ndjson')], {
  description:
    '`ndjson` (default): one event per line, as the list shows it. `csv`: one line per charge item, and one for an event without any.',
});

/** Filters of an export; all must match. Unlike a list, an export has an end. */
export const UsageEventsExportQuery = Type.Object(
  {
    ...filters,
    from: { ...UnixSeconds, description: 'Earliest `occurred_at`, inclusive.' },
    to: { ...UnixSeconds, description: 'Latest `occurred_at`, exclusive.' },
    format: Type.Optional(ExportFormatSchema),
  },
  closed,
);

export type ExportFormat = Static<typeof ExportFormatSchema>;
export type UsageEventsExportQuery = Static<typeof UsageEventsExportQuery>;
