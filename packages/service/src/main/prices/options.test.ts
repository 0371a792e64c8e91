import { describe, expect, it } from 'vitest';
import { readConfig } from '../../config.js';
import { type PricesImportValues, readPricesImport } from './options.js';

const IDS = { project: 'prj_1', 'extractor-rule-set': 'ers_1' };
const NEEDED = { ...IDS, 'api-key': 'key' };

const read = (values: PricesImportValues, environment: Record<string, string> = {}) =>
  readPricesImport('prices.json', values, readConfig(environment));

it('reads every option', () => {
  expect(
    read({
      ...NEEDED,
      models: ['gpt-*, o3', 'claude-*'],
      provider: ['openai'],
      name: 'Prices',
      purpose: 'cost',
      currency: 'EUR',
      'effective-from': '0',
      'prompt-tokens-dimension': 'prompt_tokens',
      publish: true,
      url: 'https://usage.example.com',
    }),
  ).toEqual({
    file: 'prices.json',
    models: ['gpt-*', 'o3', 'claude-*'],
    providers: ['openai'],
    promptTokensDimension: 'prompt_tokens',
    ruleSet: { name: 'Prices', purpose: 'cost', currency: 'EUR', effectiveFrom: 0 },
    destination: {
      kind: 'create',
      extractorRuleSetId: 'ers_1',
      url: 'https://usage.example.com',
      apiKey: 'key',
      projectId: 'prj_1',
      isPublished: true,
    },
  });
});

it('finds the size of the prompt where the templates have it, unless another dimension is named', () => {
  expect(read(NEEDED).promptTokensDimension).toBe('prompt_size');
});

it('prints without a service, a project and a key', () => {
  expect(read({ 'extractor-rule-set': 'ers_1', 'dry-run': true }).destination).toEqual({
    kind: 'print',
    extractorRuleSetId: 'ers_1',
  });
});

it('updates without the extractor rule set, which is known', () => {
  expect(read({ project: 'prj_1', 'api-key': 'k', update: 'prs_1' }).destination).toMatchObject({
    kind: 'update',
    pricingRuleSetId: 'prs_1',
    extractorRuleSetId: undefined,
    isPublished: false,
  });
});

describe('the service', () => {
  it.each<[string, PricesImportValues, Record<string, string>, string, string]>([
    ['of the defaults', NEEDED, {}, 'http://127.0.0.1:8080', 'key'],
    ['of HOST and PORT', NEEDED, { HOST: '0.0.0.0', PORT: '90' }, 'http://localhost:90', 'key'],
    ['of an IPv6 address', NEEDED, { HOST: '::1' }, 'http://[::1]:8080', 'key'],
    ['of the environment', NEEDED, { TOLLGATE_URL: 'http://a:1', PORT: '90' }, 'http://a:1', 'key'],
    [
      'of the options first',
      { ...NEEDED, url: 'http://b:2' },
      { TOLLGATE_URL: 'http://a:1', TOLLGATE_API_KEY: 'x' },
      'http://b:2',
      'key',
    ],
    ['with the key of the environment', IDS, { TOLLGATE_API_KEY: 'x' }, 'http://127.0.0.1:8080', 'x'],
  ])('%s', (_where, values, environment, url, apiKey) => {
    expect(read(values, environment).destination).toMatchObject({ url, apiKey });
  });
});

describe('refuses', () => {
  it.each<[string, PricesImportValues, string]>([
    ['no extractor rule set', { project: 'prj_1', 'api-key': 'k' }, 'needs --extractor-rule-set ID.'],
    [
      'no extractor rule set to print',
      { 'dry-run': true, update: 'prs_1' },
      'needs --extractor-rule-set ID.',
    ],
    ['no project', { 'extractor-rule-set': 'ers_1', 'api-key': 'k' }, 'needs --project ID.'],
    [
      'no key',
      { project: 'prj_1', 'extractor-rule-set': 'ers_1' },
      'set TOLLGATE_API_KEY, or give --api-key.',
    ],
    ['a dry run that publishes', { ...NEEDED, 'dry-run': true, publish: true }, 'it cannot --publish.'],
    ['an empty glob', { ...NEEDED, models: ['a,,b'] }, '--models must be names, separated by commas.'],
    ['an empty provider', { ...NEEDED, provider: [''] }, '--provider must be names, separated by commas.'],
    ['a purpose', { ...NEEDED, purpose: 'margin' }, '--purpose must be price or cost.'],
    ['a currency', { ...NEEDED, currency: 'usd' }, '--currency must be a code such as USD.'],
    [
      'a time',
      { ...NEEDED, 'effective-from': '2026-01-01' },
      '--effective-from must be a time in Unix seconds.',
    ],
    ['a dimension', { ...NEEDED, 'prompt-tokens-dimension': '"x' }, 'must be the name of a dimension.'],
    [
      'a URL',
      { ...NEEDED, url: 'localhost:8080' },
      '--url must be a URL that begins with http:// or https://.',
    ],
    ['a key', { ...NEEDED, 'api-key': 'a secret\n' }, '--api-key must be 1 to 200 visible ASCII characters'],
  ])('%s', (_what, values, message) => {
    expect(() => read(values)).toThrow(message);
  });

  it('a key without repeating it', () => {
    expect(() => read({ ...NEEDED, 'api-key': 'a secret' })).not.toThrow(/secret/);
  });
});
