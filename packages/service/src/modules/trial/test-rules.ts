import {
  type ErrorDetail,
  type ExtractorConfig,
  type PricingConfig,
  type RulesTestRequest,
  type RulesTestResult,
  type TrialEvent,
  WARNINGS_MAX,
  type XBilling,
} from '@tollgate/contract';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { parseDecimal, toStored } from '../../kernel/decimal.js';
import { DomainError, ERROR_DETAILS_MAX, invalidRequest, refuseInvalid } from '../../kernel/errors.js';
import { parseJson } from '../../kernel/json/json.js';
import type { ProjectRef } from '../../kernel/scope.js';
import { firstUnusableText, isUsableText } from '../../kernel/usable-text.js';
import {
  checkBilling,
  dimensionTexts,
  explainedRule,
  extractorWarnings,
  namesOfExtractor,
  pricingWarnings,
  rateAlone,
  ratingInputOf,
} from '../rules/index.js';
import { explainItem } from '../usage/index.js';
import { outcomeOf } from './outcome.js';
import { pathWarnings } from './path-warnings.js';
import { type RuleSetsForTrial, trialRules } from './trial-rules.js';
import { itemsWithoutPrices, unpricedItems } from './unpriced-items.js';

export interface TestRulesDeps {
  readonly ruleSets: RuleSetsForTrial;
  readonly clock: Clock;
}

/**
 * Rates one event by the given rules, with the same code as production. Stores nothing.
 *
 * @param rawBody a `RulesTestRequest` as it was sent, valid by its schema
 * @throws DomainError as `trialRules` and `checkTrialEvent` do
 */
export async function testRules(
  { ruleSets, clock }: TestRulesDeps,
  project: ProjectRef,
  rawBody: Buffer,
): Promise<RulesTestResult> {
  const body = JSON.parse(rawBody.toString()) as RulesTestRequest;
  if (body.extractor !== undefined && body.extractor_rule_set_id !== undefined) {
    throw invalidRequest('extractor', 'must not be given together with extractor_rule_set_id');
  }
  checkTexts(body);
  // Numbers of the event keep the digits that they were sent with.
  const { event } = parseJson(rawBody) as Pick<RulesTestRequest, 'event'>;
  checkTrialEvent(event);
  const { rating, extractor, pricing } = await trialRules(ruleSets, project, body);
  const input = ratingInputOf({ occurred_at: unixSeconds(clock), ...event });
  const prices = await rating.prices.at(input.occurredAt);
  const rules = { extractor: rating.extractor, ...prices.lists };
  const totals = totalsOf(body.totals, [extractor.config, ...prices.configs.values()]);
  const rated = rateAlone(rules, input, totals);
  const { items, failure } = outcomeOf(rated);
  const dimensions = Object.fromEntries(dimensionTexts(rated.dimensions));
  const seen = {
    dimensions,
    subject_type: rated.subject?.type ?? null,
    subject_id: rated.subject?.id ?? null,
    occurred_at: input.occurredAt,
  };
  return {
    subject: rated.subject ?? null,
    dimensions,
    charge_items: [...items],
    unpriced: unpricedItems(itemsWithoutPrices(rules, input, rated), {
      event: seen,
      dimensionTypes: extractor.config.dimensions ?? [],
      configs: prices.configs,
    }),
    explanation: items.map((item) =>
      explainItem(item, seen, {
        extractor: { name: null, config: extractor.config },
        // Rules in the request have no id.
        pricing: (ruleSetId) =>
          prices.configs.get(ruleSetId ?? '') ?? prices.costConfigs.get(ruleSetId ?? ''),
        answerRule: explainedRule,
        billing: event['x-billing'],
      }),
    ),
    notes: rated.ok ? [...rated.notes] : [],
    warnings: [
      ...pathWarnings(rating.extractor.reads, input.rawJson),
      ...extractorWarnings(extractor.config),
      ...(pricing === undefined ? [] : pricingWarnings(pricing.config, namesOfExtractor(extractor.config))),
    ].slice(0, WARNINGS_MAX),
    errors: failure === null ? [] : [failure],
  };
}

/**
 * @param configs of the rules that price the event
 * @throws DomainError `invalid_request` naming the total that cannot be one, or whose counter no rule has
 */
function totalsOf(
  totals: RulesTestRequest['totals'],
  configs: readonly (ExtractorConfig | PricingConfig)[],
): ReadonlyMap<string, bigint> {
  const counters = new Set(configs.flatMap(counterNames));
  return new Map(
    Object.entries(totals ?? {}).map(([counter, text]) => {
      const decimal = parseDecimal(text);
      const stored = decimal === undefined ? undefined : toStored(decimal);
      if (stored === undefined || stored < 0n) {
        throw invalidRequest(
          `totals.${counter}`,
          'expected a decimal of at most 20 integer and 18 fraction digits, which is not negative',
        );
      }
      if (!counters.has(counter)) {
        throw invalidRequest(
          `totals.${counter}`,
          'expected the name of a counter of the rules that price the event',
        );
      }
      return [counter, stored];
    }),
  );
}

function counterNames(config: ExtractorConfig | PricingConfig): string[] {
  const entries = 'charge_item_extractors' in config ? config.charge_item_extractors : undefined;
  const { rules } = config as PricingConfig;
  return [...(entries ?? []), ...(rules ?? [])].flatMap(({ cumulative }) => cumulative?.counter ?? []);
}

/** Checks all texts but those of the event, as if they were saved. */
function checkTexts({ event: _event, ...naming }: RulesTestRequest): void {
  const path = firstUnusableText(naming);
  if (path !== undefined) throw invalidRequest(path, 'text must not contain NUL or a lone surrogate');
}

/**
 * Refuses values that ingest refuses in these fields.
 *
 * @param event of a body that was parsed losslessly and is valid by its schema
 * @throws DomainError `subject_pair_incomplete`, `invalid_request`
 */
function checkTrialEvent(event: TrialEvent): void {
  const { subject_type: type, subject_id: id, 'x-billing': billing } = event;
  if ((type === undefined) !== (id === undefined)) {
    const [missing, sent] =
      type === undefined ? ['subject_type', 'subject_id'] : ['subject_id', 'subject_type'];
    throw new DomainError('subject_pair_incomplete', {
      details: [{ path: `event.${missing}`, message: `is required, because ${sent} was sent` }],
    });
  }
  const details: ErrorDetail[] = [];
  const report = (path: string, message: string): void => {
    if (details.length < ERROR_DETAILS_MAX) details.push({ path, message });
  };
  if (id !== undefined && !isUsableText(id)) {
    report('event.subject_id', 'text must not contain NUL or a lone surrogate');
  }
  if (billing !== undefined) checkBilling(billing as XBilling, 'event.x-billing', report);
  refuseInvalid(details);
}
