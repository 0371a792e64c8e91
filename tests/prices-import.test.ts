import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readConfig } from '../packages/service/src/config.js';
import { importPrices as importPricesHere } from '../packages/service/src/main/prices/import-prices.js';
import { type PricesImportValues, readPricesImport } from '../packages/service/src/main/prices/options.js';
import { StartError } from '../packages/service/src/main/start-error.js';
import { waitFor } from '../packages/service/src/testing/wait-for.js';
import { call, created } from './support/http.js';
import { createSampleProject, type SampleProject } from './support/sample-project.js';
import type { CommandResult, RunningService } from './support/service.js';
import { sharedService } from './support/shared-service.js';

const PRICES = fileURLToPath(new URL('samples/model-prices.json', import.meta.url));

let service: RunningService;
let sample: SampleProject;
let project: string;
/** Reads a chat completion, and prices nothing itself. */
let extractorId: string;

beforeAll(async () => {
  service = await sharedService();
  sample = await createSampleProject(service);
  project = `/v1/projects/${sample.projectId}`;
  extractorId = await publishedExtractor({ template_id: 'openai_chat_completions' });
});
afterAll(() => service?.stop());

async function publishedExtractor(body: object): Promise<string> {
  const { key } = sample;
  const id = String((await created(service, `${project}/extractor-rule-sets`, { key, body })).id);
  await call(service, 'POST', `${project}/extractor-rule-sets/${id}/publish`, { key });
  return id;
}

/** `tollgate prices import` of the sample, but for what the arguments say. */
function importPrices(
  args: readonly string[],
  { file = PRICES, key = sample.key }: { file?: string; key?: string } = {},
): Promise<CommandResult> {
  return service.runCommand(['prices', 'import', file, ...args], { TOLLGATE_API_KEY: key });
}

const intoProject = () => ['--project', sample.projectId, '--extractor-rule-set', extractorId];
const savedId = ({ stdout }: CommandResult): string => /prs_[0-9a-f]{32}/.exec(stdout)?.[0] ?? stdout;

/** Metric, unit price and amount of every charge item of one request. */
async function charge(model: string, usage: object, extractor = extractorId): Promise<unknown> {
  const { key } = sample;
  const body = { source: 'test', occurred_at: Math.floor(Date.now() / 1000), raw_json: { model, usage } };
  const ingest = `${project}/extractor-rule-sets/${extractor}/events/ingest`;
  const accepted = await call(service, 'POST', ingest, { key, body });
  const event = `${project}/usage/events/${accepted.body.raw_event_id}`;
  await waitFor(async () => (await call(service, 'GET', event, { key })).status === 200);
  const { body: detail } = await call(service, 'GET', event, { key });
  return detail.charge_items
    .filter((item: { quantity: string }) => item.quantity !== '0')
    .map((item: Record<string, string>) => [item.metric, item.unit_price, item.amount, item.pricing_source]);
}

const USAGE = {
  prompt_tokens: 2006,
  completion_tokens: 300,
  prompt_tokens_details: { cached_tokens: 1920 },
  completion_tokens_details: { reasoning_tokens: 100 },
};

describe('tollgate prices import', () => {
  it('prices requests from its publication on; an update changes the price of later ones', async () => {
    const imported = await importPrices([...intoProject(), '--models', 'gpt-4o*', '--publish']);
    expect(imported).toMatchObject({ exitCode: 0 });
    const id = savedId(imported);
    expect(imported.stdout).toMatch(
      /^Saved pricing rule set prs_\w{32}, version 1: 23 rules in USD\.\nPublished it: it applies to events from \d+ on\.\n$/,
    );
    expect(imported.stderr).toContain('3 models priced by 23 rules.');
    expect(await charge('gpt-4o', USAGE)).toEqual([
      ['llm.input_tokens', '0.0000025', '0.000215', 'pricing_rule_set'],
      ['llm.cached_input_tokens', '0.00000125', '0.0024', 'pricing_rule_set'],
      ['llm.output_tokens', '0.00001', '0.002', 'pricing_rule_set'],
      ['llm.reasoning_tokens', '0.00001', '0.001', 'pricing_rule_set'],
    ]);

    const file = join(service.dataDir, 'cheaper.json');
    writeFileSync(file, '{"gpt-4o": {"input_cost_per_token": 7.5e-08, "mode": "chat"}}');
    const update = ['--project', sample.projectId, '--update', id, '--name', 'Cheaper', '--publish'];
    const updated = await importPrices(update, { file });
    expect(updated.stdout).toContain(`Saved pricing rule set ${id}, version 2: 2 rules in USD.`);
    expect(await charge('gpt-4o', { prompt_tokens: 3, completion_tokens: 1 })).toEqual([
      ['llm.input_tokens', '0.000000075', '0.000000225', 'pricing_rule_set'],
      ['llm.output_tokens', null, '0', 'unpriced'],
    ]);
    const { body } = await call(service, 'GET', `${project}/pricing-rule-sets/${id}`, { key: sample.key });
    expect(body).toMatchObject({ name: 'Cheaper', extractor_rule_set_id: extractorId, status: 'published' });
  });

  describe('of a model whose larger prompts cost more', () => {
    const MODEL = 'claude-sonnet-4-20250514';
    const importInto = (extractor: string) =>
      importPrices([
        ...['--project', sample.projectId, '--extractor-rule-set', extractor],
        ...['--models', MODEL, '--publish'],
      ]);
    /** A prompt of so many tokens, most of them cached; the unit price of each metric that is charged. */
    const pricesOf = async (extractor: string, prompt: number) => {
      const usage = {
        input_tokens: 1_000,
        cache_read_input_tokens: prompt - 3_000,
        cache_creation_input_tokens: 2_000,
        cache_creation: { ephemeral_5m_input_tokens: 2_000, ephemeral_1h_input_tokens: 0 },
        output_tokens: 10,
      };
      const items = (await charge(MODEL, usage, extractor)) as string[][];
      return items.map(([, unitPrice]) => unitPrice);
    };
    const BASE = ['0.000003', '0.0000003', '0.00000375', '0.000015'];
    const ABOVE_200K = ['0.000006', '0.0000006', '0.0000075', '0.0000225'];

    it('charges a large prompt what the table says for its size', async () => {
      const extractor = await publishedExtractor({ template_id: 'anthropic_messages' });
      const { exitCode, stderr } = await importInto(extractor);
      expect([exitCode, stderr]).toEqual([
        0,
        expect.stringContaining('above 200k tokens, are priced by the dimension prompt_size.'),
      ]);
      expect(stderr).not.toContain('has no number dimension');
      expect(await pricesOf(extractor, 100_000)).toEqual(BASE);
      expect(await pricesOf(extractor, 200_000)).toEqual(BASE);
      expect(await pricesOf(extractor, 200_001)).toEqual(ABOVE_200K);
      expect(await pricesOf(extractor, 250_000)).toEqual(ABOVE_200K);
    });

    it('warns of a rule set that does not read the size, and charges it the base price', async () => {
      const dimensions = [{ name: 'model', path: 'model', type: 'string' }];
      const extractor = await publishedExtractor({ template_id: 'anthropic_messages', dimensions });
      expect((await importInto(extractor)).stderr).toContain(
        `The extractor rule set ${extractor} has no number dimension prompt_size: larger prompts are charged the base price`,
      );
      expect(await pricesOf(extractor, 250_000)).toEqual(BASE);
    });
  });

  it('leaves a draft, which prices nothing, unless it is to publish', async () => {
    const options = ['--provider', 'anthropic', '--currency', 'EUR', '--effective-from', '1790000000'];
    const imported = await importPrices([...intoProject(), ...options]);
    expect(imported.stdout).toContain('It is a draft, and has no effect until it is published.');
    const path = `${project}/pricing-rule-sets/${savedId(imported)}`;
    const { body } = await call(service, 'GET', path, { key: sample.key });
    expect(body).toMatchObject({
      name: 'Imported model prices: anthropic',
      status: 'draft',
      currency: 'EUR',
      effective_from: 1_790_000_000,
    });
    expect(body.rules).toHaveLength(28);
  });

  it('divides a whole table over several rule sets, and changes nothing when it is repeated', async () => {
    const file = join(service.dataDir, 'whole.json');
    const row = { mode: 'embedding', input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 };
    const models = Array.from({ length: 260 }, (_, n): [string, unknown] => [`table-${n}`, row]);
    const write = (...more: [string, unknown][]) =>
      writeFileSync(
        file,
        JSON.stringify(Object.fromEntries([...models, ...more, ['last_updated', 'today']])),
      );
    const run = async () => (await importPrices([...intoProject(), '--publish'], { file })).stdout;
    write();
    const first = await run();
    expect(first.match(/^(Saved|Unchanged|Published|Nothing).*$/gm)).toEqual([
      expect.stringMatching(/^Saved pricing rule set prs_\w{32}, version 1: 500 rules in USD\.$/),
      expect.stringMatching(/^Saved pricing rule set prs_\w{32}, version 1: 20 rules in USD\.$/),
      expect.stringMatching(/^Published prs_/),
      expect.stringMatching(/^Published prs_/),
    ]);
    expect(await charge('table-259', { prompt_tokens: 7, completion_tokens: 0 })).toEqual([
      ['llm.input_tokens', '0.000001', '0.000007', 'pricing_rule_set'],
    ]);
    const ids = first.match(/^Saved pricing rule set prs_\w{32}/gm)?.map((line) => line.slice(-36));
    const versionOf = (place: number) => `pricing rule set ${ids?.[place]}, version`;

    expect(await run()).toBe(
      `Unchanged: ${versionOf(0)} 1: 500 rules in USD.\nUnchanged: ${versionOf(1)} 1: 20 rules in USD.\n` +
        'Nothing has changed: the prices are already up to date.\n',
    );
    write(['table-new', row]);
    expect(await run()).toMatch(
      new RegExp(
        `^Unchanged: ${versionOf(0)} 1: 500 rules in USD\\.\nSaved ${versionOf(1)} 2: 22 rules in USD\\.\nPublished it: `,
      ),
    );
  });

  it('imports the table as costs beside the prices of the same models', async () => {
    const models = ['--models', 'gpt-5-mini'];
    const extractor = await publishedExtractor({ template_id: 'openai_chat_completions' });
    const into = ['--project', sample.projectId, '--extractor-rule-set', extractor, '--publish', ...models];
    const prices = await importPrices(into);
    const costs = await importPrices([...into, '--purpose', 'cost']);
    expect(savedId(costs)).not.toBe(savedId(prices));
    const shown = async (id: string | undefined) =>
      (await call(service, 'GET', `${project}/pricing-rule-sets/${id}`, { key: sample.key })).body;
    const [price, cost] = [await shown(savedId(prices)), await shown(savedId(costs))];
    expect([price.purpose, cost.purpose]).toEqual(['price', 'cost']);
    expect([cost.name, cost.rules]).toEqual(['Imported model costs: gpt-5-mini', price.rules]);
    const again = await importPrices([...into, '--purpose', 'cost']);
    expect(again.stdout).toContain('Nothing has changed');
    const update = ['--project', sample.projectId, '--update', cost.id, ...models];
    expect((await importPrices(update)).stdout).toContain('Nothing has changed');
    expect((await importPrices([...update, '--purpose', 'price'])).stderr).toContain(
      '409 pricing_purpose_fixed',
    );
  });

  it('prints with --dry-run what a create takes, and nothing else, to standard output', async () => {
    const file = join(service.dataDir, 'many.json');
    const row = { mode: 'chat', input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 };
    const models = Array.from({ length: 125 }, (_, n) => [`organisation/model-${n}`, row]);
    writeFileSync(file, JSON.stringify(Object.fromEntries(models)));
    const printed = await importPrices(['--dry-run', '--extractor-rule-set', extractorId], { file, key: '' });
    expect(printed.exitCode).toBe(0);
    const body = JSON.parse(printed.stdout);
    const answer = await call(service, 'POST', `${project}/pricing-rule-sets`, { key: sample.key, body });
    expect(answer.status).toBe(201);
    expect(answer.body.rules).toHaveLength(500);
    expect(answer.body.rules).toEqual(body.rules);
  });
});

describe('refuses in one sentence', () => {
  it('and ends with exit code 1', async () => {
    const { exitCode, stdout, stderr } = await importPrices([...intoProject(), '--models', 'gtp-*']);
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toBe(`tollgate: ${PRICES} has no model "gtp-*".\n`);
  });

  const IDS = { project: '', 'extractor-rule-set': '' };
  it.each<[string, PricesImportValues, RegExp]>([
    [
      'a key that is none',
      { ...IDS, 'api-key': 'tg_wrong' },
      /^The prices were not saved: the service answered 401 unauthenticated\. .* Set TOLLGATE_API_KEY/,
    ],
    ['another project', { ...IDS, project: 'prj_0' }, /answered 404 not_found\. .* Check --project/],
    [
      'another rule set',
      { ...IDS, 'extractor-rule-set': 'ers_0' },
      /answered 400 rule_set_not_found\. .* extractor_rule_set_id: /,
    ],
    [
      'an update of nothing',
      { project: '', update: 'prs_0' },
      /answered 404 rule_set_not_found\. .* --update/,
    ],
    [
      'no service',
      { ...IDS, url: 'http://127.0.0.1:1' },
      /not saved: no response from http:\/\/127\.0\.0\.1:1: /,
    ],
  ])('%s', async (_what, { project: id, 'extractor-rule-set': extractor, ...values }, message) => {
    const sentence = await refusal({
      project: id || sample.projectId,
      ...(extractor !== undefined && { 'extractor-rule-set': extractor || extractorId }),
      ...values,
    });
    expect(sentence).toMatch(message);
    expect(sentence).not.toContain(sample.key);
  });

  it('a key without rules:write', async () => {
    const body = { name: 'reader', permissions: ['rules:read'] };
    const path = `/admin/v1/tenants/${sample.tenantId}/api-keys`;
    const { key } = await created(service, path, { key: service.serviceKey, body });
    const ids = { project: sample.projectId, 'extractor-rule-set': extractorId };
    const sentence = await refusal({ ...ids, 'api-key': String(key) });
    expect(sentence).toMatch(/answered 403 permission_denied\. .* needs rules:write/);
  });

  /** Runs an import in this process, because starting a command for each takes long, and returns its error. */
  async function refusal(values: PricesImportValues): Promise<string> {
    const config = readConfig({ TOLLGATE_URL: service.url, TOLLGATE_API_KEY: sample.key });
    const report = vi.spyOn(console, 'error').mockImplementation(() => {});
    const wanted = readPricesImport(PRICES, { models: ['gpt-4o'], ...values }, config);
    const failure = await importPricesHere(wanted).catch((error: unknown) => error);
    report.mockRestore();
    expect(failure).toBeInstanceOf(StartError);
    return (failure as StartError).message;
  }
});
