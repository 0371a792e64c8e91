import { type Static, Type } from 'typebox';
import { ANALYSIS_TIME_MAX, AnalysisTimeRange } from './analysis.js';
import { BacktestResult } from './backtest-result.js';
import { closed, mapOf, Nullable, pageFields, UnixSeconds } from './common.js';
import { ResolvedSubject } from './extractor-template.js';
import { IngestEvent } from './ingest.js';
import { PricingRuleSetInput } from './pricing-rule-set.js';
import { ExtractorRuleSetInput } from './rule-set.js';
import { UsageEventFailure } from './usage.js';
import { UsageItemExplanation } from './usage-explanation.js';
import { UnpricedItem, UsageChargeItem, UsageEventNote } from './usage-item.js';
import { Warnings } from './warnings.js';

/** Bounds of one backtest; a backtest that reaches a bound returns its result up to there, and names the bound. */
export const BACKTEST_EVENTS_MAX = 1_000_000;
export const BACKTEST_SECONDS_MAX = 600;
/** Upper bound of the charge items with a price by a total that a backtest counts, in all periods it touches. */
export const BACKTEST_COUNTED_ITEMS_MAX = 200_000;
/** Upper bounds of a backtest that returns its result at once, without a job. */
export const BACKTEST_AT_ONCE_EVENTS_MAX = 1_000;
export const BACKTEST_AT_ONCE_BYTES_MAX = 4 * 1_048_576;
/** For how long a backtest is kept, and how many of the latest ones of a project. */
export const BACKTEST_KEPT_DAYS = 7;
export const BACKTESTS_KEPT_MAX = 100;
/** Smallest share of the events that a backtest rates. */
const BACKTEST_SAMPLE_MIN = 0.000_001;

const Count = Type.Integer({ minimum: 0 });
const RuleSetId = (description: string) => Type.String({ minLength: 1, maxLength: 64, description });
const Version = (of: string) =>
  Type.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    description: `Version of \`${of}\`; default: its newest version, which may be a draft.`,
  });

/** A pricing rule set without the extractor rule set that it would be bound to. */
export const TrialPricing = Type.Object(
  {
    ...PricingRuleSetInput.properties,
    extractor_rule_set_id: Type.Optional(PricingRuleSetInput.properties.extractor_rule_set_id),
  },
  {
    ...closed,
    description:
      'A pricing rule set as in a create request. Its extractor rule set, name and `effective_from` are ignored ' +
      'here. Bound pricing rule sets with the same purpose do not apply. With `{"rules": []}` nothing has a price.',
  },
);

const TrialExtractor = Type.Object(ExtractorRuleSetInput.properties, {
  ...closed,
  description:
    'An extractor rule set as in a create request, `template_id` included. Its name and `effective_from` are ' +
    'ignored here.',
});

/** The rules to test: the named ones; prices and costs without them are those of production. */
const trialRulesFields = {
  extractor: Type.Optional(TrialExtractor),
  version: Type.Optional(Version('extractor_rule_set_id')),
  pricing: Type.Optional(TrialPricing),
  pricing_rule_set_id: Type.Optional(
    RuleSetId(
      'A saved pricing rule set, in place of `pricing`; no others with its purpose apply. Prices and costs without ' +
        'such rules are those of production: by the published pricing rule sets that are bound to ' +
        '`extractor_rule_set_id` and active at `occurred_at` of the event.',
    ),
  ),
  pricing_version: Type.Optional(Version('pricing_rule_set_id')),
};

export const TrialEvent = Type.Object(
  {
    raw_json: IngestEvent.properties.raw_json,
    occurred_at: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: ANALYSIS_TIME_MAX,
        description: 'Unix seconds; default: now. It may be outside the time range that ingest accepts.',
      }),
    ),
    subject_type: IngestEvent.properties.subject_type,
    subject_id: IngestEvent.properties.subject_id,
    'x-billing': IngestEvent.properties['x-billing'],
  },
  { ...closed, description: 'An event to test rules on.' },
);

export const RulesTestRequest = Type.Object(
  {
    extractor_rule_set_id: Type.Optional(RuleSetId('A saved extractor rule set, in place of `extractor`.')),
    ...trialRulesFields,
    event: TrialEvent,
    totals: Type.Optional(
      mapOf(Type.String({ maxLength: 64 }), {
        description:
          'The total of each counter before the event, by its name: a decimal that is not negative, for all rule sets ' +
          'with a counter of that name. Without one, the event is the first of its period. The value of an event is ' +
          'new to a counter of distinct values. A name that no rule in force at `occurred_at` has is a 400.',
      }),
    ),
  },
  {
    ...closed,
    description:
      'Exactly one of `extractor` and `extractor_rule_set_id`. No pricing rule sets are bound to an `extractor` ' +
      'in the request.',
  },
);

const Dimensions = mapOf(Type.String(), {
  description: 'Every value as text: numbers as plain decimals, booleans as `true` and `false`.',
});

export const RulesTestResult = Type.Object(
  {
    subject: Nullable(ResolvedSubject),
    dimensions: Dimensions,
    charge_items: Type.Array(UsageChargeItem, {
      description:
        'Charge items as the event would show them, without `ledger_transaction_id` because nothing is posted. ' +
        'Rules from the request have no id and no version.',
    }),
    errors: Type.Array(UsageEventFailure, {
      description:
        'Errors that fail the event; other fields hold the values resolved before. Empty when the event would be processed.',
    }),
    unpriced: Type.Array(UnpricedItem, {
      description:
        'Charge items that no price rule matched, and why the closest rules did not; also if the event fails for that reason.',
    }),
    notes: Type.Array(UsageEventNote, {
      description: 'Notes where the event was not as the rules expect, without a failure.',
    }),
    warnings: Warnings,
    explanation: Type.Array(UsageItemExplanation, {
      description: 'The calculation of each number, in the order of `charge_items`.',
    }),
  },
  { ...closed, description: 'The event as the rules would rate it.' },
);

export const BacktestRequest = Type.Object(
  {
    extractor_rule_set_id: RuleSetId(
      'Extractor rule set of the events to test on. Its rules are tested unless `extractor` is given, with its ' +
        'published prices unless others are given.',
    ),
    ...trialRulesFields,
    time_range: AnalysisTimeRange,
    sample: Type.Optional(
      Type.Number({
        minimum: BACKTEST_SAMPLE_MIN,
        maximum: 1,
        description:
          'Share of the events to rate. Default: 1. Events are chosen by `raw_event_id`: the choice is the same ' +
          'every time, and a smaller share is part of a larger one.',
      }),
    ),
  },
  { ...closed, description: 'The rules to test, and the events to test them on.' },
);

export const BacktestStatus = Type.Enum(['running', 'succeeded', 'failed', 'cancelled'], {
  description: 'The state of a backtest.',
});

export const BacktestProgress = Type.Object(
  { events_done: Count, events_total: Count },
  { ...closed, description: 'The number of events rated so far, and of all events to rate.' },
);

export const BacktestFailure = Type.Object(
  {
    code: Type.Enum(['interrupted', 'store_unavailable', 'internal_error'], {
      description: '`interrupted`: the node that ran it has stopped. Start the backtest again.',
    }),
    message: Type.String(),
  },
  { ...closed, description: 'Why a backtest has no result.' },
);

export const Backtest = Type.Object(
  {
    id: Type.String(),
    status: BacktestStatus,
    request: Type.Unknown({ description: 'The request as it was sent.' }),
    progress: BacktestProgress,
    result: Nullable(BacktestResult),
    failure: Nullable(BacktestFailure),
    created_at: UnixSeconds,
    finished_at: Nullable(UnixSeconds),
  },
  { ...closed, description: 'A backtest: its progress, and its result once it has one.' },
);

const { request: _request, result: _result, ...listedFields } = Backtest.properties;

export const BacktestSummary = Type.Object(listedFields, {
  ...closed,
  description: 'A backtest without its request and result.',
});

export const BacktestPage = Type.Object(
  {
    backtests: Type.Array(BacktestSummary, {
      description: 'Newest first, without `request` and `result`.',
    }),
    ...pageFields,
  },
  { description: 'One page of backtests.' },
);

export type TrialEvent = Static<typeof TrialEvent>;
export type RulesTestRequest = Static<typeof RulesTestRequest>;
export type RulesTestResult = Static<typeof RulesTestResult>;
export type BacktestRequest = Static<typeof BacktestRequest>;
export type Backtest = Static<typeof Backtest>;
export type BacktestPage = Static<typeof BacktestPage>;
