/** Bounds of the API. A request above one is refused, and the response names the bound. */
export const SINGLE_BODY_BYTES_MAX = 1_048_576;
export const BATCH_BODY_BYTES_MAX = 16 * 1_048_576;
export const BATCH_EVENTS_MAX = 10_000;
export const JSON_DEPTH_MAX = 64;
/** Upper bound of the arrays, objects and their members in one body, which bounds the time of parsing it. */
export const JSON_VALUES_MAX = 1_000_000;
export const METADATA_BYTES_MAX = 16 * 1_024;
/** source, idempotency_key, external_event_id, subject_id. */
export const IDENTIFIER_CHARS_MAX = 255;
/** x-billing of one event: charge items; hints of each kind. */
export const X_BILLING_ITEMS_MAX = 100;
export const X_BILLING_HINTS_MAX = 100;
export const EXPRESSION_BYTES_MAX = 2_048;
export const RULE_SET_EXTRACTORS_MAX = 100;
export const RULE_SET_DIMENSIONS_MAX = 32;
/** Characters of a dimension of an event, and of a value that it is compared with. */
export const DIMENSION_VALUE_CHARS_MAX = 4_096;
/** UTF-8 bytes of the names and values of the dimensions of a budget lease together, those of its parent included. */
export const LEASE_DIMENSIONS_BYTES_MAX = 4 * 1_024;
/** Paths whose quantities one charge item extractor subtracts. */
export const LESS_PATHS_MAX = 8;
/** Largest number of bands of one number dimension. */
export const DIMENSION_BANDS_MAX = 32;
/** Bounds of `sum_paths`: per charge item extractor or dimension, and per rule set. */
export const SUM_PATHS_MAX = 8;
export const RULE_SET_SUM_PATHS_MAX = 100;
/** Upper bound of list entries that one such path may read in one event. */
export const SUM_NODES_MAX = 1_000;
/** Dimensions by which one counter is split. */
export const COUNTER_DIMENSIONS_MAX = 8;
/** Values that a counter of distinct values or of the greatest quantity keeps in one period. */
export const COUNTER_VALUES_MAX = 100_000;
export const PRICING_RULES_MAX = 500;
/** Bounds of aliases: per pricing rule set; asterisks per pattern; characters of a pattern and of its value. */
export const PRICING_ALIASES_MAX = 1_000;
export const ALIAS_STARS_MAX = 8;
export const ALIAS_CHARS_MAX = 255;
export const LIST_LIMIT_DEFAULT = 20;
export const LIST_LIMIT_MAX = 100;
export const WALLETS_LIMIT_MAX = 1_000;
/** Upper bound of the wallets of each account in a list of accounts. */
export const LISTED_WALLETS_MAX = 10;
export const ANALYSIS_METRICS_MAX = 32;
export const ANALYSIS_GROUP_BY_MAX = 4;
export const ANALYSIS_ROWS_MAX = 50_000;
export const ANALYSIS_POINTS_MAX = 1_500;
export const NAME_CHARS_MAX = 200;
/** Rules of one usage limit plan; direct limits of one subject route. */
export const LIMIT_RULES_MAX = 100;
/** Upper bound of the levels of a subject, its own included. */
export const SUBJECT_LEVELS_MAX = 8;
export const NOTIFY_AT_MAX = 10;
/** Upper bound of the raises of one route that have not ended. */
export const LIMIT_RAISES_MAX = 100;
/** Upper bound of the raises of one route, newest first, that count in windows of the past. */
export const LIMIT_RAISES_KEPT_MAX = 1_000;
/** Upper bound of the metrics, and of the values of a dimension, that one limit rule lists. */
export const SELECTOR_VALUES_MAX = 100;
/** Upper bound of the different values that a window of a `unique` limit counts, and of such a limit. */
export const UNIQUE_VALUES_MAX = 100_000;
/** The start of 2100, in Unix seconds: calendars are not known for much longer. */
export const USAGE_LIMIT_ANCHOR_S_MAX = 4_102_444_800;

/** Patterns of names, anchored. */
export const SUBJECT_TYPE_PATTERN = '^[a-z][a-z0-9_]{0,63}$';
export const METRIC_PATTERN = '^[a-z][a-z0-9_.]{0,127}$';
export const DIMENSION_NAME_PATTERN = '^[A-Za-z_][A-Za-z0-9_.-]{0,63}$';
export const COUNTER_NAME_PATTERN = '^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,127}$';
export const CURRENCY_CHARS_MAX = 12;
/** ISO 4217 code or a unit of the tenant's own; both have this shape. */
export const CURRENCY_PATTERN = `^[A-Z][A-Z0-9_]{1,${CURRENCY_CHARS_MAX - 1}}$`;
