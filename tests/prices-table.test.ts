import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '../packages/service/src/testing/wait-for.js';
import { call, created } from './support/http.js';
import { createSampleProject, type SampleProject } from './support/sample-project.js';
import type { RunningService } from './support/service.js';
import { sharedService } from './support/shared-service.js';

const SAMPLE = fileURLToPath(new URL('samples/model-prices.json', import.meta.url));
/** Two hundred rows of the public table, where they are at hand. */
const ROWS = new URL('../../shared/vectors/prices.json', import.meta.url);

describe.runIf(existsSync(ROWS))('a public table, imported as it is', () => {
  let service: RunningService;
  let sample: SampleProject;
  let project: string;
  let file: string;

  beforeAll(async () => {
    service = await sharedService();
    sample = await createSampleProject(service);
    project = `/v1/projects/${sample.projectId}`;
    file = join(service.dataDir, 'table.json');
    // Joined as text: parsed, prices would lose digits.
    const rows = /"rows":\s*\{([\s\S]*)\},\s*"cases"/.exec(readFileSync(ROWS, 'utf8'))?.[1] ?? '';
    const others = readFileSync(SAMPLE, 'utf8').trim().slice(0, -1);
    writeFileSync(file, `${others}, ${rows}}`);
  });
  afterAll(() => service?.stop());

  async function publishedExtractor(template: string): Promise<string> {
    const { key } = sample;
    const body = { template_id: template };
    const id = String((await created(service, `${project}/extractor-rule-sets`, { key, body })).id);
    await call(service, 'POST', `${project}/extractor-rule-sets/${id}/publish`, { key });
    return id;
  }

  const importTable = (extractorId: string) => {
    const ids = ['--project', sample.projectId, '--extractor-rule-set', extractorId];
    return service.runCommand(['prices', 'import', file, ...ids, '--publish'], {
      TOLLGATE_API_KEY: sample.key,
    });
  };

  /** Metric, amount and the rule behind it, of every charge item with a quantity. */
  async function charge(extractorId: string, rawJson: object): Promise<unknown[]> {
    const { key } = sample;
    const body = { source: 'test', occurred_at: Math.floor(Date.now() / 1000), raw_json: rawJson };
    const ingest = `${project}/extractor-rule-sets/${extractorId}/events/ingest`;
    const accepted = await call(service, 'POST', ingest, { key, body });
    const event = `${project}/usage/events/${accepted.body.raw_event_id}?wait_seconds=10`;
    let detail: Awaited<ReturnType<typeof call>>['body'];
    await waitFor(async () => {
      const answer = await call(service, 'GET', event, { key });
      detail = answer.body;
      return answer.status === 200;
    });
    return detail.charge_items
      .filter((item: { quantity: string }) => item.quantity !== '0')
      .map((item: Record<string, string>) => [item.metric, item.amount, item.rule_name]);
  }

  it('is divided over rule sets, prices the names that providers report, and changes nothing when repeated', async () => {
    const [openai, gemini] = [
      await publishedExtractor('openai_chat_completions'),
      await publishedExtractor('google_gemini'),
    ];
    const { exitCode, stdout, stderr } = await importTable(openai);
    expect([exitCode, stderr.match(/^\d+ models priced by \d+ rules\.$/m)?.length]).toEqual([0, 1]);
    const saved = stdout.match(/^Saved pricing rule set .* version 1: \d+ rules in USD\.$/gm) ?? [];
    expect(saved.length).toBeGreaterThan(1);
    expect(stdout.match(/^Published prs_/gm)).toHaveLength(saved.length);
    expect((await importTable(gemini)).stdout.match(/^Saved /gm)).toHaveLength(saved.length);

    const usage = { prompt_tokens: 1_000_000, completion_tokens: 1_000 };
    for (const model of ['gpt-5-mini', 'gpt-5-mini-2025-08-07', 'openai/gpt-5-mini-20250807']) {
      expect(await charge(openai, { model, usage }), model).toEqual([
        ['llm.input_tokens', '0.25', 'gpt-5-mini llm.input_tokens'],
        ['llm.output_tokens', '0.002', 'gpt-5-mini llm.output_tokens'],
      ]);
    }
    expect(await charge(openai, { model: 'gpt-5-20b', usage })).toEqual([
      ['llm.input_tokens', '0', null],
      ['llm.output_tokens', '0', null],
    ]);
    const usageMetadata = { promptTokenCount: 100_000, candidatesTokenCount: 1_000 };
    expect(await charge(gemini, { modelVersion: 'gemini-2.5-pro', usageMetadata })).toMatchObject([
      ['llm.input_tokens', '0.125', expect.stringContaining('gemini-2.5-pro')],
      ['llm.output_tokens', '0.01', expect.stringContaining('gemini-2.5-pro')],
    ]);
    // In the table it has the prefix of its provider alone.
    const preview = 'gemini-2.5-flash-lite-preview-09-2025';
    expect(await charge(gemini, { modelVersion: preview, usageMetadata })).toEqual([
      ['llm.input_tokens', '0.01', `gemini/${preview} llm.input_tokens`],
      ['llm.output_tokens', '0.0004', `gemini/${preview} llm.output_tokens`],
    ]);

    const again = await importTable(openai);
    expect(again.stdout.match(/^Unchanged: /gm)).toHaveLength(saved.length);
    expect(again.stdout).toMatch(/\nNothing has changed: the prices are already up to date\.\n$/);
  });
});
