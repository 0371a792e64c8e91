import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { guideOf } from '../packages/service/src/testing/guide.js';
import { createSampleProject } from './support/sample-project.js';
import type { RunningService } from './support/service.js';
import { sharedService } from './support/shared-service.js';

const run = promisify(execFile);
const inRepository = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/**
 * A program of somebody who has nothing but the tarballs: its types, those of libraries and the README's
 * examples are checked in full.
 */
const PROGRAM = `
import { ERRORS } from '@tollgate/contract';
import { ApiError, type IngestAccepted, TollgateClient } from '@tollgate/sdk';

const [baseUrl = '', apiKey = '', projectId = '', ruleSetId = ''] = process.argv.slice(2);
const project = new TollgateClient({ baseUrl, apiKey }).project(projectId);
const receipt: IngestAccepted = await project.ingest(ruleSetId, {
  source: 'package',
  occurred_at: Math.floor(Date.now() / 1000),
  raw_json: { customer: 'c1', model: 'm', usage: { input_tokens: 1, output_tokens: 1 } },
});
// @ts-expect-error: a field that no receipt has. If types were lost, everything would be allowed.
receipt.no_such_field;
const refused = await project.usage.event('evt_none').catch((error: unknown) => error);
if (!(refused instanceof ApiError)) throw new Error('The service knew an event that nobody sent.');
console.log(JSON.stringify({ receipt, refused: refused.status === ERRORS.not_found.status }));
`;

let folder: string;
let service: RunningService;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-sdk-package-'));
  service = await sharedService();
});
afterAll(async () => {
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Packs a package as \`npm publish\` would. @returns the paths of the files inside, and of the tarball */
async function pack(name: string): Promise<{ readonly files: string[]; readonly tarball: string }> {
  const target = join(folder, 'tarballs');
  mkdirSync(target, { recursive: true });
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', target], {
    cwd: inRepository(`packages/${name}`),
  });
  const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];
  return { files: packed.files.map(({ path }) => path), tarball: join(target, packed.filename) };
}

it('installs from tarballs into an empty project, is fully typed there and sends an event', async () => {
  const [contract, sdk] = [await pack('contract'), await pack('sdk')];
  for (const { files } of [contract, sdk]) {
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'dist/index.js', 'dist/index.d.ts']));
    expect(files.filter((path) => /\.test\.|testing|tsbuildinfo|^src/.test(path))).toEqual([]);
  }
  expect(sdk.files).toContain('README.md');

  const project = join(folder, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...quiet, sdk.tarball], { cwd: project });
  // The SDK needs no other package of ours.
  expect(readdirSync(join(project, 'node_modules/@tollgate'))).toEqual(['sdk']);
  await run('npm', ['install', ...quiet, contract.tarball], { cwd: project });

  writeFileSync(join(project, 'program.ts'), PROGRAM);
  const readme = guideOf(readFileSync(inRepository('packages/sdk/README.md'), 'utf8'));
  const examples = ['declare const secret: string;', ...readme.blocks('ts')];
  writeFileSync(join(project, 'examples.ts'), examples.join('\n'));
  const types = inRepository('node_modules/@types');
  const options = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
  const tsc = inRepository('node_modules/typescript/bin/tsc');
  await run(process.execPath, [tsc, ...options, '--typeRoots', types, 'program.ts', 'examples.ts'], {
    cwd: project,
  });

  const sample = await createSampleProject(service);
  const args = [service.url, sample.key, sample.projectId, sample.ruleSetId];
  const { stdout } = await run(process.execPath, ['program.js', ...args], { cwd: project });
  expect(JSON.parse(stdout)).toEqual({
    receipt: { raw_event_id: expect.stringMatching(/^evt_/), status: 'received' },
    refused: true,
  });
});
