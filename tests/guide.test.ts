import { execFile, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type QuickNode, startQuickNode } from './support/quick-node.js';
import { PROGRAM, type RunningService, startService } from './support/service.js';

const PRICES = fileURLToPath(new URL('samples/model-prices.json', import.meta.url));
const hasTools = ['bash', 'curl'].every((tool) => spawnSync(tool, ['--version']).status === 0);

/** All other guides continue from it. */
const FIRST_GUIDE = 'getting-started.md';

/** A shell block of a guide, and the output that the guide shows after it. */
interface Block {
  readonly guide: string;
  readonly code: string;
  readonly shown: string;
}

/** Ends the output of each block. */
const SEPARATOR = '\u001e';

function blocksOf(guide: string): readonly Block[] {
  const path = fileURLToPath(new URL(`../docs/guides/${guide}`, import.meta.url));
  const pairs = readFileSync(path, 'utf8').matchAll(/^```sh\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?/gms);
  return [...pairs].map(([, code = '', shown = '']) => ({ guide, code, shown }));
}

/** One script that ends at the first failure. */
function scriptOf(blocks: readonly Block[]): string {
  return `set -euo pipefail\n${blocks.map(({ code }) => `${code}printf '${SEPARATOR}'`).join('\n')}`;
}

/** The output with `…` wherever the shown text has it; as it is if the rest differs. */
function withEllipses(printed: string, shown: string): string {
  const pattern = shown.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${pattern.join('.+')}$`).test(printed) ? shown : printed;
}

describe.runIf(hasTools)('the guides', () => {
  let service: RunningService;
  let folder: string;
  let quickNode: QuickNode;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-guide-'));
    // The price table is not downloaded, and the program is that of the build.
    copyFileSync(PRICES, join(folder, 'model_prices_and_context_window.json'));
    writeFileSync(join(folder, 'npx'), `#!/bin/sh\nshift\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`, {
      mode: 0o755,
    });
    quickNode = await startQuickNode(folder);
    service = await startService({ env: { TOLLGATE_PAYMENT_PROVIDER: 'sandbox' } });
  });
  afterAll(async () => {
    await service?.stop();
    quickNode?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /**
   * Runs the blocks one after the other and returns the output of each. The first guide alone runs with Node.js itself,
   * the others with what stands in for it.
   */
  async function outputsOf(blocks: readonly Block[]): Promise<readonly string[]> {
    const isFirstAlone = blocks.every(({ guide }) => guide === FIRST_GUIDE);
    const programs = isFirstAlone ? [folder] : [folder, quickNode.folder];
    const { stdout } = await promisify(execFile)('bash', ['-c', scriptOf(blocks)], {
      cwd: folder,
      env: {
        ...process.env,
        PATH: [...programs, process.env.PATH].join(':'),
        URL: service.url,
        SERVICE_KEY: service.serviceKey,
      },
    });
    return stdout.split(SEPARATOR).slice(0, -1);
  }

  it.each([
    FIRST_GUIDE,
    'trying-rules.md',
    'prices.md',
    'costs.md',
    'wallets.md',
    'corrections.md',
    'boards.md',
    'live-and-export.md',
    'checkout.md',
    'plans.md',
    'limits.md',
    'moving.md',
  ])('%s prints what it shows', async (guide) => {
    const blocks = [...new Set([FIRST_GUIDE, guide])].flatMap(blocksOf);
    const outputs = await outputsOf(blocks);
    const printed = blocks.map((block, index) => ({
      ...block,
      shown: withEllipses(outputs[index] ?? '', block.shown),
    }));
    expect(printed).toEqual(blocks);
  });
});
