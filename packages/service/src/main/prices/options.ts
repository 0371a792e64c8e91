import {
  CURRENCY_PATTERN,
  DIMENSION_NAME_PATTERN,
  PRICING_PURPOSES,
  type PricingPurpose,
} from '@tollgate/contract';
import type { Config } from '../../config.js';
import { readApiKey, readServiceUrl } from '../../config-values.js';
import { PROMPT_SIZE } from '../../modules/rules/index.js';
import { StartError } from '../start-error.js';

/** Options of `tollgate prices import`, for `parseArgs`. */
export const PRICES_IMPORT_OPTIONS = {
  project: { type: 'string' },
  'extractor-rule-set': { type: 'string' },
  update: { type: 'string' },
  models: { type: 'string', multiple: true },
  provider: { type: 'string', multiple: true },
  name: { type: 'string' },
  purpose: { type: 'string' },
  currency: { type: 'string' },
  'effective-from': { type: 'string' },
  'prompt-tokens-dimension': { type: 'string' },
  publish: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  url: { type: 'string' },
  'api-key': { type: 'string' },
} as const;

/** The values of the options as `parseArgs` returns them. */
export interface PricesImportValues {
  readonly project?: string;
  readonly 'extractor-rule-set'?: string;
  readonly update?: string;
  readonly models?: readonly string[];
  readonly provider?: readonly string[];
  readonly name?: string;
  readonly purpose?: string;
  readonly currency?: string;
  readonly 'effective-from'?: string;
  readonly 'prompt-tokens-dimension'?: string;
  readonly publish?: boolean;
  readonly 'dry-run'?: boolean;
  readonly url?: string;
  readonly 'api-key'?: string;
}

/** One import, checked as far as possible without the file and the service. */
export interface PricesImport {
  readonly file: string;
  /** Globs; empty for all. */
  readonly models: readonly string[];
  readonly providers: readonly string[];
  readonly promptTokensDimension: string;
  readonly ruleSet: RuleSetFields;
  readonly destination: Destination;
}

/** Fields of a pricing rule set other than its rules; undefined where the option is absent. */
export interface RuleSetFields {
  readonly name: string | undefined;
  readonly purpose: PricingPurpose | undefined;
  readonly currency: string | undefined;
  /** Unix seconds. */
  readonly effectiveFrom: number | undefined;
}

/** Where the rules go: to standard output, into a new pricing rule set, or into a new version of one. */
export type Destination =
  | { readonly kind: 'print'; readonly extractorRuleSetId: string }
  | (ServiceAccess & { readonly kind: 'create'; readonly extractorRuleSetId: string })
  | (ServiceAccess & {
      readonly kind: 'update';
      readonly pricingRuleSetId: string;
      /** Undefined for the one to which it is bound; the service refuses any other. */
      readonly extractorRuleSetId: string | undefined;
    });

export interface ServiceAccess {
  readonly url: string;
  readonly apiKey: string;
  readonly projectId: string;
  readonly isPublished: boolean;
}

/** @throws StartError for the first option that is missing or invalid */
export function readPricesImport(file: string, values: PricesImportValues, config: Config): PricesImport {
  return {
    file,
    models: listOf('models', values.models),
    providers: listOf('provider', values.provider),
    promptTokensDimension:
      matching(
        'prompt-tokens-dimension',
        values['prompt-tokens-dimension'],
        DIMENSION_NAME_PATTERN,
        'the name of a dimension',
      ) ?? PROMPT_SIZE,
    ruleSet: {
      name: values.name,
      purpose: purposeOf(values.purpose),
      currency: matching('currency', values.currency, CURRENCY_PATTERN, 'a code such as USD'),
      effectiveFrom: secondsOf(values['effective-from']),
    },
    destination: destinationOf(values, config),
  };
}

function destinationOf(values: PricesImportValues, config: Config): Destination {
  const { update: pricingRuleSetId, 'extractor-rule-set': extractorRuleSetId } = values;
  if (values['dry-run']) {
    if (values.publish) throw new StartError('--dry-run sends nothing: it cannot --publish.');
    return { kind: 'print', extractorRuleSetId: needed('extractor-rule-set', extractorRuleSetId) };
  }
  if (pricingRuleSetId !== undefined) {
    return { kind: 'update', pricingRuleSetId, extractorRuleSetId, ...accessOf(values, config) };
  }
  return {
    kind: 'create',
    extractorRuleSetId: needed('extractor-rule-set', extractorRuleSetId),
    ...accessOf(values, config),
  };
}

function accessOf(values: PricesImportValues, config: Config): ServiceAccess {
  const projectId = needed('project', values.project);
  const apiKey = read('api-key', values['api-key'], readApiKey) ?? config.apiKey;
  if (apiKey === undefined) {
    throw new StartError('tollgate prices import needs an API key: set TOLLGATE_API_KEY, or give --api-key.');
  }
  const url = read('url', values.url, readServiceUrl) ?? config.url ?? localUrl(config);
  return { url, apiKey, projectId, isPublished: values.publish ?? false };
}

function needed(option: string, value: string | undefined): string {
  if (value === undefined || value === '')
    throw new StartError(`tollgate prices import needs --${option} ID.`);
  return value;
}

/** Returns where the service with these settings listens, as seen from the same machine. */
function localUrl({ host, port }: Config): string {
  const address = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

function listOf(option: string, texts: readonly string[] = []): readonly string[] {
  const entries = texts.flatMap((text) => text.split(',').map((entry) => entry.trim()));
  if (entries.includes('')) throw new StartError(`--${option} must be names, separated by commas.`);
  return entries;
}

function matching(
  option: string,
  text: string | undefined,
  pattern: string,
  expected: string,
): string | undefined {
  if (text !== undefined && !new RegExp(pattern).test(text)) {
    throw new StartError(`--${option} must be ${expected}.`);
  }
  return text;
}

function purposeOf(text: string | undefined): PricingPurpose | undefined {
  const purpose = PRICING_PURPOSES.find((each) => each === text);
  if (text !== undefined && purpose === undefined)
    throw new StartError(`--purpose must be ${PRICING_PURPOSES.join(' or ')}.`);
  return purpose;
}

function secondsOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,12}$/.test(text)) throw new StartError('--effective-from must be a time in Unix seconds.');
  return Number(text);
}

function read(
  option: string,
  text: string | undefined,
  reader: (text: string) => string,
): string | undefined {
  try {
    return text === undefined ? undefined : reader(text);
  } catch (error) {
    throw new StartError(`--${option} must be ${(error as Error).message}.`);
  }
}
