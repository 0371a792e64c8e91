import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningService, startService } from './support/service.js';

const GUIDE = fileURLToPath(new URL('../docs/guides/getting-started.md', import.meta.url));
const hasTools = ['bash', 'curl'].every((tool) => spawnSync(tool, ['--version']).status === 0);

/** The guide's shell blocks as one script that ends at the first failure. */
function guideScript(): string {
  const blocks = [...readFileSync(GUIDE, 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)].map(([, code]) => code);
  return `set -euo pipefail\n${blocks.join('\n')}`;
}

describe.runIf(hasTools)('the getting-started guide', () => {
  let service: RunningService;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-guide-'));
    service = await startService();
  });
  afterAll(async () => {
    await service?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('works as written', async () => {
    const { stdout } = await promisify(execFile)('bash', ['-c', guideScript()], {
      cwd: folder,
      env: { ...process.env, URL: service.url, SERVICE_KEY: service.serviceKey },
    });
    expect(stdout).toContain('published');
    expect(stdout).toContain('llm.input_tokens 1200 × 0.000003 = 0.0036');
    expect(stdout).toContain('llm.output_tokens 340 × 0.000015 = 0.0051');
    expect(stdout).toContain('llm.input_tokens 0.0036');
    expect(stdout.trim().split('\n').slice(-2)).toEqual(['0', '0']);
  });
});
