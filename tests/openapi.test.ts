import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSampleProject } from './support/sample-project.js';
import type { RunningService } from './support/service.js';
import { sharedService } from './support/shared-service.js';

const run = promisify(execFile);
const FOLDER = fileURLToPath(new URL('openapi/', import.meta.url));
/** The compiler of this project, which is newer than the one that the generator brings along for itself. */
const TSC = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url));
const GENERATOR = 'node_modules/openapi-typescript/bin/cli.js';

/** Runs a program of Node in the folder, and returns what it prints. */
async function printed(...command: string[]): Promise<string> {
  try {
    return (await run(process.execPath, command, { cwd: FOLDER })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${command[0]} failed:\n${stdout}${stderr}`);
  }
}

/** The part of what the program prints that is compared. */
interface Outcome {
  readonly received: { readonly raw_event_ids: readonly string[] };
  readonly event: { readonly charge_items: readonly { readonly metric: string; readonly amount: string }[] };
  readonly listed: { readonly events: readonly { readonly raw_event_id: string }[] };
  readonly refused: { readonly code: string };
}

describe('the API description of a running service', () => {
  let service: RunningService;
  let document: { readonly info: object };

  beforeAll(async () => {
    service = await sharedService();
    document = (await (await fetch(`${service.url}/openapi.json`)).json()) as typeof document;
    mkdirSync(`${FOLDER}dist`, { recursive: true });
    await printed(GENERATOR, `${service.url}/openapi.json`, '-o', 'dist/api.d.ts');
    await printed(TSC, '-p', '.');
  });
  afterAll(async () => {
    await service?.stop();
    rmSync(`${FOLDER}dist`, { recursive: true, force: true });
  });

  it('is valid OpenAPI, and follows what linters recommend', async () => {
    const findings = async (linted: object) => {
      writeFileSync(`${FOLDER}dist/linted.json`, JSON.stringify(linted));
      return JSON.parse(await printed('lint.mjs', 'dist/linted.json')) as string[];
    };
    expect(await findings(document)).toEqual([]);
    // A linter that looks at nothing finds nothing.
    const { info: _info, ...untitled } = document;
    expect(await findings(untitled)).toEqual([expect.stringContaining('info')]);
  });

  it('makes a client by which a typed program calls the service', async () => {
    const { projectId, key, ruleSetId } = await createSampleProject(service);
    const text = await printed('dist/program.js', service.url, key, projectId, ruleSetId);
    const { received, event, listed, refused } = JSON.parse(text) as Outcome;
    expect(event.charge_items.map(({ metric, amount }) => [metric, amount])).toEqual([
      ['llm.input_tokens', '0.003'],
      ['llm.output_tokens', '0.0034'],
    ]);
    expect(listed.events.map(({ raw_event_id: id }) => id)).toEqual(received.raw_event_ids);
    expect(refused.code).toBe('not_found');
  });
});
