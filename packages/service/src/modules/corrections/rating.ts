import type { BacktestRequest, CorrectionRules } from '@tollgate/contract';
import { BoundedMemory } from '../../kernel/bounded-memory.js';
import { groupBy } from '../../kernel/maps.js';
import type { ProjectRef } from '../../kernel/scope.js';
import { BatchRules, NOT_PUBLISHED, type RuleVersionSource } from '../pipeline/index.js';
import {
  type CountingEvent,
  compilePricing,
  dimensionTexts,
  NO_PRICE_LISTS,
  type PriceLists,
  type PurposedPricing,
  priceListsOf,
  type RatingRules,
  type RuleVersion,
  rateEvent,
  ratingInputOf,
  refuseToCompile,
} from '../rules/index.js';
import { compiledExtractor, type RuleSetsForTrial, saved, trialRules } from '../trial/index.js';
import { assertStorable, sentFields, type UsageEventRow } from '../usage/index.js';
import type { Outcome } from './outcome.js';

/** The result of rating an event again, without its account; or why it cannot be rated. */
export type Rerated =
  | {
      readonly ok: true;
      readonly outcome: Omit<Outcome, 'posting' | 'accountId'>;
      /** The rest of the rating, for an event whose price depends on counters; then there are no charge items yet. */
      readonly counting: CountingEvent | undefined;
    }
  | {
      readonly ok: false;
      readonly failure: { readonly code: string; readonly message: string; readonly path: string };
    };

/** The rules by which a correction rates events. */
export interface CorrectionRating {
  /** Never throws because of the event: an error becomes its failure. */
  rate(event: UsageEventRow): Promise<Rerated>;
}

export interface CorrectionRatingDeps {
  readonly ruleSets: RuleSetsForTrial;
  readonly published: RuleVersionSource;
  readonly onDefect: (error: unknown) => void;
}

/** A pricing rule set that a correction names. */
interface NamedPricing extends PurposedPricing {
  /** The extractor rule set that it is bound to. */
  readonly boundTo: string | null;
}

/** Returns the rules for an event. */
type RulesFor = (event: UsageEventRow) => Promise<ActiveRules | undefined>;

type ActiveRules = Pick<RuleVersion, 'version' | 'rate'>;

const DEFECT = {
  code: 'processing_failed',
  message: 'The event could not be processed.',
  path: '',
} as const;
/** Source of the expressions of one correction that are kept compiled. */
const CODE_BYTES_MAX = 4 * 1_048_576;

/**
 * Returns the rating of a correction. Rules that it does not name are those published now, in the versions that are
 * active when an event occurred.
 *
 * @throws DomainError `rule_set_not_found` naming the field
 */
export async function correctionRating(
  deps: CorrectionRatingDeps,
  project: ProjectRef,
  rules: CorrectionRules | null,
): Promise<CorrectionRating> {
  return ratingBy(await rulesFor(deps, project, rules ?? {}), deps.onDefect);
}

/** Returns the rating of a backtest: by the same rules. @throws DomainError as `trialRules` does */
export async function backtestRating(
  { ruleSets, onDefect }: CorrectionRatingDeps,
  project: ProjectRef,
  request: BacktestRequest,
): Promise<CorrectionRating> {
  const { rating, extractor } = await trialRules(ruleSets, project, request);
  const { version } = extractor.origin;
  return ratingBy(async ({ occurredAt }) => {
    const { lists } = await rating.prices.at(occurredAt);
    return activeRules(version, { extractor: rating.extractor, ...lists });
  }, onDefect);
}

async function rulesFor(
  { ruleSets, published }: CorrectionRatingDeps,
  project: ProjectRef,
  { extractor, pricing }: CorrectionRules,
): Promise<RulesFor> {
  const codeMemory = new BoundedMemory(CODE_BYTES_MAX);
  const chosen =
    pricing === undefined
      ? UNCHANGED
      : chosenLists(await compiledPricings(ruleSets, project, pricing, codeMemory));
  if (extractor === undefined) {
    const active = publishedRules(published, project);
    return async (event) => {
      const found = await active(event);
      if (found?.rules === undefined || pricing === undefined) return found;
      const lists = chosen(found.rules, event.extractorRuleSetId);
      return activeRules(found.version, { ...found.rules, ...lists });
    };
  }
  const { id, version } = extractor;
  const named = await saved(ruleSets.extractors, project, id, version, 'an extractor', 'rules.extractor.id');
  const compiled = compiledExtractor(named, codeMemory);
  const bound = await ruleSets.boundPrices.of(project.projectId, id);
  return async ({ occurredAt }) => {
    const { lists } = await bound.at(occurredAt);
    return activeRules(version, { extractor: compiled, ...chosen(lists, id) });
  };
}

/** Returns the lists to rate events of an extractor rule set by, in place of those that are published. */
type ChosenLists = (published: PriceLists, extractorRuleSetId: string) => PriceLists;

const UNCHANGED: ChosenLists = (published) => published;

/**
 * Rule sets of one purpose replace all others of this purpose that are bound to the same extractor rule set: events of
 * another one keep their prices. An empty list means no prices.
 */
function chosenLists(pricings: readonly NamedPricing[]): ChosenLists {
  if (pricings.length === 0) return ({ costs }) => ({ ...NO_PRICE_LISTS, costs });
  const bound = groupBy(pricings, ({ boundTo }) => boundTo);
  const byExtractor = new Map(
    [...bound].map(([id, named]) => {
      const has = (asked: PurposedPricing['purpose']) => named.some(({ purpose }) => purpose === asked);
      return [id, { lists: priceListsOf(named), hasPrices: has('price'), hasCosts: has('cost') }];
    }),
  );
  return (published, extractorRuleSetId) => {
    const chosen = byExtractor.get(extractorRuleSetId);
    return {
      prices: chosen?.hasPrices ? chosen.lists.prices : published.prices,
      costs: chosen?.hasCosts ? chosen.lists.costs : published.costs,
    };
  };
}

function activeRules(version: number, rules: RatingRules): ActiveRules {
  return { version, rate: (input) => rateEvent(rules, input) };
}

async function compiledPricings(
  { pricings }: RuleSetsForTrial,
  project: ProjectRef,
  named: NonNullable<CorrectionRules['pricing']>,
  codeMemory: BoundedMemory,
): Promise<NamedPricing[]> {
  const compiled: NamedPricing[] = [];
  for (const [index, { id, version }] of named.entries()) {
    const path = `rules.pricing[${index}].id`;
    const { config, origin, purpose, boundTo } = await saved(
      pricings,
      project,
      id,
      version,
      'a pricing',
      path,
    );
    const result = compilePricing(config, origin, codeMemory);
    if (!result.ok) refuseToCompile(origin, result.issues);
    compiled.push({ purpose: purpose ?? 'price', pricing: result.pricing, boundTo });
  }
  return compiled;
}

/** The versions of each rule set as they were when it was first asked for. */
function publishedRules(source: RuleVersionSource, { projectId }: ProjectRef) {
  const rules = new BatchRules(source);
  return async ({ extractorRuleSetId, occurredAt }: UsageEventRow): Promise<RuleVersion | undefined> => {
    await rules.prepare(projectId, new Set([extractorRuleSetId]));
    return rules.at(projectId, extractorRuleSetId, occurredAt);
  };
}

function ratingBy(rulesOf: RulesFor, onDefect: (error: unknown) => void): CorrectionRating {
  return {
    async rate(event) {
      const active = await rulesOf(event);
      if (active === undefined) return { ok: false, failure: NOT_PUBLISHED };
      try {
        return rerated(event, active);
      } catch (error) {
        onDefect(error);
        return { ok: false, failure: DEFECT };
      }
    },
  };
}

const NOT_COUNTED = { items: [], notes: [] } as const;

function rerated(event: UsageEventRow, { version, rate }: ActiveRules): Rerated {
  const rated = rate(ratingInputOf(fieldsOf(event)));
  if (rated.ok === false) return { ok: false, failure: rated.failure };
  const counting = rated.ok === undefined ? rated : undefined;
  const { items, notes } = rated.ok === undefined ? NOT_COUNTED : rated;
  const outcome = {
    status: 'processed',
    subjectType: rated.subject?.type ?? '',
    subjectId: rated.subject?.id ?? '',
    subjectIsSent: event.subjectIsSent,
    extractorRuleSetId: event.extractorRuleSetId,
    extractorVersion: version,
    dimensions: dimensionTexts(rated.dimensions),
    notes: notes.length === 0 ? '' : JSON.stringify(notes),
    items,
  } as const;
  assertStorable({ ...event, extractorVersion: version, items, itemTransactionIds: [] });
  return { ok: true, outcome, counting };
}

function fieldsOf({ rawJson, xBilling, occurredAt, subjectIsSent, ...row }: UsageEventRow) {
  const { subjectType: type, subjectId: id } = row;
  return sentFields({
    ...{ rawJson, xBilling, occurredAt },
    sentSubject: subjectIsSent ? { type, id } : undefined,
  });
}
