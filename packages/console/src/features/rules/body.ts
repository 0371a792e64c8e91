import type {
  ChargeItemExtractor,
  DimensionConfig,
  ExtractorRuleSet,
  PricingAlias,
  PricingPurpose,
  PricingRule,
  PricingRuleSet,
  SubjectConfig,
} from '@tollgate/contract';
import type { RuleSet, RuleSetKind } from './api.js';

/** The request body of an extractor rule set, with all of its fields. */
export interface ExtractorBody {
  readonly name: string;
  readonly template_id?: string;
  readonly effective_from?: number;
  readonly subject: SubjectConfig;
  readonly dimensions: readonly DimensionConfig[];
  readonly charge_item_extractors: readonly ChargeItemExtractor[];
  readonly on_unpriced: ExtractorRuleSet['on_unpriced'];
}

/** The request body of a pricing rule set, with all of its fields. */
export interface PricingBody {
  readonly extractor_rule_set_id: string;
  readonly purpose?: PricingPurpose;
  readonly name: string;
  readonly effective_from?: number;
  readonly currency: string;
  readonly rules: readonly PricingRule[];
  readonly aliases: readonly PricingAlias[];
}

/** The request body that saves a rule set without changes. */
export function bodyOf(ruleSet: RuleSet): ExtractorBody | PricingBody {
  return isPricing(ruleSet) ? pricingBody(ruleSet) : extractorBody(ruleSet);
}

function isPricing(ruleSet: RuleSet): ruleSet is PricingRuleSet {
  return 'extractor_rule_set_id' in ruleSet;
}

function extractorBody({ name, template_id, effective_from, ...ruleSet }: ExtractorRuleSet): ExtractorBody {
  const { subject, dimensions, charge_item_extractors, on_unpriced } = ruleSet;
  return {
    name,
    ...(template_id === undefined ? {} : { template_id }),
    effective_from,
    subject,
    dimensions,
    charge_item_extractors,
    on_unpriced,
  };
}

function pricingBody(ruleSet: PricingRuleSet): PricingBody {
  const { extractor_rule_set_id, purpose, name, effective_from, currency, rules, aliases } = ruleSet;
  return { extractor_rule_set_id, purpose, name, effective_from, currency, rules, aliases };
}

export function jsonOf(body: unknown): string {
  return JSON.stringify(body, null, 2);
}

/** Sets a field of an object, or removes it if the value is undefined. Other fields keep their order. */
export function withField<T extends object, K extends keyof T>(
  object: T,
  key: K,
  value: T[K] | undefined,
): T {
  if (value !== undefined) return { ...object, [key]: value };
  const { [key]: _, ...rest } = object;
  return rest as T;
}

/** Sets a list of paths, or leaves it out if it is empty. An empty `path` means nothing if there are sum paths. */
export function withPaths<T extends { path?: string; sum_paths?: string[]; less_paths?: string[] }>(
  value: T,
  name: 'sum_paths' | 'less_paths',
  paths: readonly string[],
): T {
  const next = withField(value, name, paths.length === 0 ? undefined : [...paths]);
  return next.sum_paths !== undefined && next.path === '' ? withField(next, 'path', undefined) : next;
}

type Shape =
  | 'string'
  | 'integer'
  | 'string or integer'
  | 'boolean'
  | 'strings'
  | 'strings or integers'
  | Fields
  | readonly [Fields];
interface Fields {
  readonly [name: string]: Shape;
}

const PRICES = {
  unit_price_expr: 'string',
  pricing_unit: 'string or integer',
  amount_expr: 'string',
  total_expr: 'string',
  cumulative: {
    counter: 'string',
    period: 'string',
    per: 'string',
    by: 'strings',
    aggregate: 'string',
    of: 'string',
  },
} as const;

/** The fields that the form shows. Other fields are kept but not shown. */
const SHAPES: Readonly<Record<RuleSetKind, Fields>> = {
  extractor: {
    name: 'string',
    effective_from: 'integer',
    subject: {
      ...{ type_path: 'string', default_type: 'string', id_path: 'string', default_id: 'string' },
      required: 'boolean',
    },
    dimensions: [
      {
        ...{ name: 'string', path: 'string', type: 'string', required: 'boolean' },
        ...{ sum_paths: 'strings', bands: 'strings or integers' },
      },
    ],
    charge_item_extractors: [
      {
        ...{ name: 'string', metric: 'string', path: 'string', type: 'string' },
        ...{ sum_paths: 'strings', less_paths: 'strings', on_negative: 'string' },
        stated_total: { path: 'string', other_paths: 'strings' },
        ...{ unit: 'string', currency: 'string', ...PRICES },
      },
    ],
    on_unpriced: 'string',
  },
  pricing: {
    ...{ extractor_rule_set_id: 'string', purpose: 'string', name: 'string' },
    ...{ effective_from: 'integer', currency: 'string' },
    rules: [{ name: 'string', priority: 'integer', metric: 'string', match_expr: 'string', ...PRICES }],
    aliases: [{ dimension: 'string', pattern: 'string', value: 'string' }],
  },
};

/**
 * The path of the first value that the form cannot show, or `the top level` for the body itself. Undefined if
 * the form can show the whole body.
 */
export function unsupportedPath(kind: RuleSetKind, body: unknown): string | undefined {
  return misfit(body, SHAPES[kind], '');
}

function misfit(value: unknown, shape: Shape, path: string): string | undefined {
  if (shape === 'strings' || shape === 'strings or integers') {
    const isFit = (each: unknown) =>
      typeof each === 'string' || (shape === 'strings or integers' && Number.isSafeInteger(each));
    return Array.isArray(value) && value.every(isFit) ? undefined : path;
  }
  if (shape === 'integer') return Number.isSafeInteger(value) ? undefined : path;
  if (shape === 'string or integer')
    return misfit(value, Number.isSafeInteger(value) ? 'integer' : 'string', path);
  if (typeof shape === 'string') return typeof value === shape ? undefined : path;
  if (isListShape(shape)) {
    if (!Array.isArray(value)) return path;
    return firstOf(value, (entry, index) => misfit(entry, shape[0], `${path}[${index}]`));
  }
  if (!isObject(value)) return path === '' ? 'the top level' : path;
  const prefix = path === '' ? '' : `${path}.`;
  return firstOf(Object.entries(shape), ([name, inner]) =>
    Object.hasOwn(value, name) ? misfit(value[name], inner, `${prefix}${name}`) : undefined,
  );
}

function isListShape(shape: Fields | readonly [Fields]): shape is readonly [Fields] {
  return Array.isArray(shape);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function firstOf<Each>(
  entries: readonly Each[],
  find: (each: Each, index: number) => string | undefined,
): string | undefined {
  for (const [index, each] of entries.entries()) {
    const found = find(each, index);
    if (found !== undefined) return found;
  }
  return undefined;
}
