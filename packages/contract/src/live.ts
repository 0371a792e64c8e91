import { type Static, Type } from 'typebox';
import { ANALYSIS_TIME_MAX, AnalysisRow } from './analysis.js';
import { CHART_ID_PATTERN } from './boards.js';
import { closed, Nullable } from './common.js';

/** Bounds of a stream: queries it follows, and streams that one key has open at once. */
export const STREAM_QUERIES_MAX = 16;
export const STREAMS_PER_KEY_MAX = 10;
/** Rows of one query that an event holds; when more have changed, the client repeats the query. */
export const STREAM_ROWS_MAX = 2_000;
const QUERY_CHARS_MAX = 8_192;

export const StreamQueryString = Type.Object(
  {
    query: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: QUERY_CHARS_MAX }), {
        maxItems: STREAM_QUERIES_MAX,
        description:
          'An analysis query as JSON, as in the body of `POST …/analysis/query`. Repeat the parameter for more ' +
          'queries.',
      }),
    ),
    chart_id: Type.Optional(
      Type.Array(Type.String({ pattern: CHART_ID_PATTERN }), {
        maxItems: STREAM_QUERIES_MAX,
        description:
          'Id of a chart: its query, as saved when the stream begins, is followed. Repeat the parameter for more ' +
          `charts. With \`query\` they are ${STREAM_QUERIES_MAX} at most.`,
      }),
    ),
    last_seconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: ANALYSIS_TIME_MAX,
        description:
          'Time range of the charts, in seconds. Default: the default time range of the board of each chart.',
      }),
    ),
  },
  closed,
);

const QueryIndex = Type.Integer({
  minimum: 0,
  description: 'Index of the query in the URL, from 0: first every `query`, then every `chart_id`.',
});

/** Data of the event `buckets`. */
export const StreamBuckets = Type.Object(
  {
    query: QueryIndex,
    bucket_size: Type.String({ description: 'Size of the buckets, as an analysis query returns it.' }),
    from: Type.Integer({
      description: 'Current start of the range of the query. Remove buckets that end before it.',
    }),
    to: Type.Integer(),
    buckets: Type.Array(Nullable(Type.Integer()), {
      description:
        'Starts of the buckets that may have changed; null for totals. `rows` has all their rows: replace the rows that ' +
        'you have of these buckets.',
    }),
    rows: Type.Array(AnalysisRow),
  },
  closed,
);

/** Data of the event `reset`. */
export const StreamReset = Type.Object(
  { query: Nullable({ ...QueryIndex, description: 'The query to run again; null for all.' }) },
  closed,
);

export type StreamQueryString = Static<typeof StreamQueryString>;
export type StreamBuckets = Omit<Static<typeof StreamBuckets>, 'rows'> & { rows: AnalysisRow[] };
export type StreamReset = Static<typeof StreamReset>;
