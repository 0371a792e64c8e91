import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  type MockInstance,
  vi,
} from 'vitest';
import { readConfig } from '../../config.js';
import { StartError } from '../start-error.js';
import { importPrices } from './import-prices.js';
import { type PricesImportValues, readPricesImport } from './options.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-prices-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

let stdout: MockInstance;
let stderr: MockInstance;
beforeEach(() => {
  stdout = vi.spyOn(console, 'log').mockImplementation(() => {});
  stderr = vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => vi.restoreAllMocks());

/** A dry run over a file of this content. */
function importContent(content: string | Uint8Array, values: PricesImportValues = {}): Promise<number> {
  const file = join(folder, 'prices.json');
  writeFileSync(file, content);
  return importFile(file, values);
}

function importFile(file: string, values: PricesImportValues = {}): Promise<number> {
  return importPrices(
    readPricesImport(file, { 'extractor-rule-set': 'ers_1', 'dry-run': true, ...values }, readConfig({})),
  );
}

const rows = (count: number): string =>
  JSON.stringify(
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`m${n}`, { input_cost_per_token: 1 }])),
  );

it('prints costs with their purpose and a name of their own', async () => {
  const content = '{"m": {"mode": "embedding", "input_cost_per_token": 7.5e-08}}';
  expect(await importContent(content, { purpose: 'cost' })).toBe(0);
  expect(JSON.parse(stdout.mock.lastCall?.[0])).toMatchObject({
    purpose: 'cost',
    name: 'Imported model costs',
  });
});

it('prints the pricing rule set, and the report apart from it', async () => {
  const content =
    '\ufeff{"m": {"mode": "embedding", "input_cost_per_token": 7.5e-08, "rpm": 1, "ocr_cost_per_page": 1}}';
  const values = { currency: 'EUR', name: 'Prices', 'effective-from': '12' };
  expect(await importContent(content, values)).toBe(0);
  expect(JSON.parse(stdout.mock.lastCall?.[0])).toEqual({
    extractor_rule_set_id: 'ers_1',
    name: 'Prices',
    currency: 'EUR',
    effective_from: 12,
    rules: [
      {
        name: 'm llm.input_tokens',
        priority: 100,
        metric: 'llm.input_tokens',
        match_expr: 'dimensions.model == "m"',
        unit_price_expr: 'dec("0.075")',
        pricing_unit: '1000000',
      },
    ],
    aliases: [
      { dimension: 'model', pattern: 'm-202*', value: 'm' },
      { dimension: 'model', pattern: 'm@202*', value: 'm' },
    ],
  });
  expect(stderr.mock.calls).toEqual([
    ['1 model priced by 1 rule.\nNot converted:\n  ocr_cost_per_page: 1 model (m)'],
  ]);
});

it.each([
  [250, [500]],
  [251, [500, 2]],
])('divides %d models over rule sets of %j rules', async (models, counts) => {
  expect(await importContent(rows(models))).toBe(0);
  const inputs = stdout.mock.calls.map(([text]) => JSON.parse(text));
  expect(inputs.map((input) => input.rules.length)).toEqual(counts);
  expect(inputs.map((input) => input.name)).toEqual(
    ['Imported model prices', 'Imported model prices 2'].slice(0, counts.length),
  );
});

it('passes over what is no model, and names it', async () => {
  const content = '{"last_updated": "2026-07-01", "m": {"mode": "embedding", "input_cost_per_token": 1}}';
  expect(await importContent(content)).toBe(0);
  expect(stderr.mock.calls).toEqual([['1 model priced by 1 rule.\nNot a model: last_updated']]);
});

describe('refuses', () => {
  it.each<[string, string | Uint8Array, RegExp]>([
    ['a file that is no JSON', '{"gpt-4o": ', /prices\.json cannot be read as JSON: /],
    ['an empty file', '', /cannot be read as JSON: /],
    ['a file that is no text', Uint8Array.of(0x22, 0xff, 0x22), /is not UTF-8 text\.$/],
    [
      'JSON without an end',
      '['.repeat(100_000),
      /cannot be read as JSON: JSON is nested more than 64 levels deep\.$/,
    ],
    ['JSON of another kind', '[1, 2]', /is not a JSON object of models and their prices\.$/],
    [
      'nothing to price',
      '{"m": {"output_cost_per_image": 1}}',
      /has no price per token for the requested models/,
    ],
    [
      'a negative price',
      '{"m": {"input_cost_per_token": -1}}',
      /has invalid prices, listed above\. Correct them/,
    ],
    [
      'too many rule sets, with a way to fewer',
      rows(12_501),
      /makes 51 pricing rule sets, and at most 50 can price one extractor rule set: choose with --models /,
    ],
  ])('%s', async (_what, content, message) => {
    await expect(importContent(content)).rejects.toThrow(StartError);
    await expect(importContent(content)).rejects.toThrow(message);
    expect(stdout).not.toHaveBeenCalled();
  });

  it.each<[string, () => string, RegExp]>([
    ['a file that is not there', () => join(folder, 'absent.json'), /absent\.json cannot be read: ENOENT/],
    ['a folder', () => folder, /cannot be read: EISDIR/],
    ['a file without end', () => '/dev/zero', /has more than 32 MiB\.$/],
  ])('%s', async (_what, file, message) => {
    await expect(importFile(file())).rejects.toThrow(message);
  });
});
