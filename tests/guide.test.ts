import { execFile, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROGRAM, type RunningService, startService } from './support/service.js';

const PRICES = fileURLToPath(new URL('samples/model-prices.json', import.meta.url));
const hasTools = ['bash', 'curl'].every((tool) => spawnSync(tool, ['--version']).status === 0);

/** The guides' shell blocks as one script that ends at the first failure. */
function scriptOf(...guides: string[]): string {
  const blocks = guides.flatMap((guide) => {
    const path = fileURLToPath(new URL(`../docs/guides/${guide}`, import.meta.url));
    return [...readFileSync(path, 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)].map(([, code]) => code);
  });
  return `set -euo pipefail\n${blocks.join('\n')}`;
}

describe.runIf(hasTools)('the guides', () => {
  let service: RunningService;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-guide-'));
    service = await startService({ env: { TOLLGATE_PAYMENT_PROVIDER: 'sandbox' } });
  });
  afterAll(async () => {
    await service?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs the guides one after the other and returns their output. */
  async function printedBy(...guides: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)('bash', ['-c', scriptOf(...guides)], {
      cwd: folder,
      env: {
        ...process.env,
        PATH: `${folder}:${process.env.PATH}`,
        URL: service.url,
        SERVICE_KEY: service.serviceKey,
      },
    });
    return stdout;
  }

  it('getting started works as written', async () => {
    const printed = await printedBy('getting-started.md');
    expect(printed).toContain('published');
    expect(printed).toContain('llm.input_tokens 1200 × 0.000003 = 0.0036');
    expect(printed).toContain('llm.output_tokens 340 × 0.000015 = 0.0051');
    expect(printed).toContain('llm.input_tokens 0.0036');
    expect(printed.trim().split('\n').slice(-2)).toEqual(['0', '0']);
  });

  it('trying rules goes on from there', async () => {
    const printed = await printedBy('getting-started.md', 'trying-rules.md');
    expect(printed).toContain('llm.output_tokens 0.0051 by large out');
    expect(printed).toContain('llm.input_tokens 0 unpriced');
    expect(printed).toContain('llm.output_tokens 0.00255 pricing_rule_set');
    expect(printed).toContain('dimension_missing at dimensions[0]');
    expect(printed).toContain('llm.input_tokens 0.0036 → 0.0036');
    expect(printed).toContain('llm.output_tokens 0.0051 → 0.0068');
    expect(printed.trim().split('\n').at(-1)).toBe('succeeded');
  });

  it('importing prices goes on from there', async () => {
    // The table is not downloaded, and the program is that of the build.
    copyFileSync(PRICES, join(folder, 'model_prices_and_context_window.json'));
    writeFileSync(join(folder, 'npx'), `#!/bin/sh\nshift\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`, {
      mode: 0o755,
    });
    const printed = await printedBy('getting-started.md', 'prices.md');
    expect(printed).toMatch(/^Saved pricing rule set prs_\w+, version 1: \d+ rules in USD\.$/m);
    expect(printed).toContain('It is a draft, and has no effect until it is published.');
    expect(printed).toMatch(/^Unchanged: .*\nPublished it: it applies to events from \d+ on\.$/m);
    expect(printed).toContain('llm.input_tokens 0.0005 by gpt-5-mini llm.input_tokens');
    expect(printed).toContain('llm.output_tokens 0.0006 by gpt-5-mini llm.output_tokens');
    expect(printed.trim().split('\n').at(-1)).toMatch(/^Published it: it applies to events from \d+ on\.$/);
  });

  it('costs go on from there', async () => {
    const printed = await printedBy('getting-started.md', 'costs.md');
    expect(printed.trim().split('\n').slice(-6)).toEqual([
      'cost',
      '[',
      "  'llm.input_tokens 0.0036 costs 0.0024',",
      "  'llm.output_tokens 0.0051 costs 0.0034'",
      ']',
      "[ 'large 0.0174 - 0.0058 = 0.0116 USD' ]",
    ]);
  });

  it('wallets go on from there', async () => {
    const printed = await printedBy('getting-started.md', 'wallets.md');
    expect(printed.trim().split('\n').slice(-9)).toEqual([
      'prepaid',
      ...['100', '20', '20'],
      ...['-25.5', 'insufficient_funds'],
      'Welcome 0, Bought 94.5',
      'USD 94.5, available 94.5',
      'adjustment -25.5, credit 20, credit 100',
    ]);
  });

  it('corrections go on from there', async () => {
    const printed = await printedBy('getting-started.md', 'corrections.md');
    expect(printed.trim().split('\n').slice(-20)).toEqual([
      ...['c-42', '-0.0174'],
      ...['applied', '-0.0087', '0.0087 by true', '1 processed 2, 2 voided 0'],
      ...['published', 'unpriced', 'published'],
      ...['applied', "[ 'USD: 0 → 3 for 0.06', 'no price: 3 → 0 for 0' ]", '-0.0687'],
      ...['planned', 'llm.output_tokens -0.00102 USD, llm.input_tokens 0 USD', '-0.0687'],
      ...['applied', '-0.06768'],
      ...['reverted', '-0.0687', 'correction_not_planned'],
    ]);
  });

  it('boards go on from there', async () => {
    const printed = await printedBy('getting-started.md', 'boards.md');
    expect(printed).toContain("[ 'large 0.0087 USD' ]");
    expect(printed.trim().split('\n').at(-1)).toBe('Tokens, Amount by model');
  });

  it('live charts and exports go on from there', async () => {
    const printed = await printedBy('getting-started.md', 'live-and-export.md');
    expect(printed.trim().split('\n').slice(-6)).toEqual([
      "[ 'large 1200', 'small 800' ]",
      'raw_event_id,occurred_at,received_at,processed_at,status',
      'llm.input_tokens,token,1200,0.000003',
      'llm.input_tokens,token,800,0.00000025',
      'llm.output_tokens,token,10,0.000002',
      'llm.output_tokens,token,340,0.000015',
    ]);
  });

  it('selling plans goes on from there', async () => {
    const printed = await printedBy('getting-started.md', 'checkout.md');
    expect(printed.trim().split('\n').slice(-7)).toEqual([
      ...['launch 1900 USD', 'growth 19900 USD', 'scale 49900 USD', 'enterprise 0 USD'],
      ...['checkout_in_progress', 'growth', 'paid'],
    ]);
  });

  it('plans go on from there', async () => {
    const printed = await printedBy('getting-started.md', 'plans.md');
    expect(printed.trim().split('\n').slice(-4)).toEqual(['launch', 'unlimited', 'growth', 'active']);
  });

  it('limits go on from there', async () => {
    const printed = await printedBy('getting-started.md', 'limits.md');
    expect(printed.trim().split('\n').slice(-31)).toEqual([
      ...['1', 'draft', 'draft', '2', 'acme', 'acme', '7.5', '10', 'ended'],
      ...['0', '2', 'archived'],
      ...['plan_not_published', 'true', 'true', '2'],
      ...['hour 7.5, month 100, 7d 1000000', '0', '0', 'hour 7.5'],
      ...['deny', 'unknown_subject', 'allow', 'parallel'],
      ...['limit_exceeded', 'received', '3.5', 'closed'],
      ...['0.5', '1,0.5', 'closed'],
    ]);
  });
});
