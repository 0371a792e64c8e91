// `[--all] VERSION...`: runs tests on other versions of Node.js, such as `20.20 24`: a short part of the suite, or all
// of it. A version that is not the running one is downloaded into a scratch folder, outside the lock file.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { inRepository, say } from './prepare.mjs';

/** Tests of what depends on the runtime most, and of the way of an event from the command line to `verify`. */
const SHORT_PART = [
  'packages/timezone',
  'packages/service/src/kernel/json/json.test.ts',
  'packages/service/src/kernel/decimal',
  'packages/service/src/main/command-line.test.ts',
  'packages/service/src/platform/http/express-lane/fuzz.test.ts',
  'packages/service/src/main/rating-threads.test.ts',
  'packages/service/src/main/worker-host.test.ts',
  'tests/shards.test.ts',
  'tests/accepting.test.ts',
];
const DOWNLOAD_MS_MAX = 120_000;

const isAll = process.argv.includes('--all');
const versions = process.argv.slice(2).filter((argument) => argument !== '--all');
const scratch = mkdtempSync(join(tmpdir(), 'tollgate-node-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));
for (const version of versions) {
  const node = isOf(process.versions.node, version) ? process.execPath : download(version);
  if (node !== undefined) test(node);
  else if (isAll) {
    say(`the tests run on Node.js ${process.versions.node} instead.`);
    test(process.execPath);
  } else say(`the tests on Node.js ${version} are skipped.`);
}

/** Whether a version such as `20.20.2` is one of `20.20`. */
function isOf(full, version) {
  return `${full}.`.startsWith(`${version}.`);
}

/** Returns the program of the newest release of a version, or undefined when it cannot be downloaded. */
function download(version) {
  const name = `node-${process.platform}-${process.arch}`;
  const packed = run('npm', ['pack', '--silent', '--pack-destination', scratch, `${name}@${version}`]);
  const archive = packed.stdout?.trim();
  const folder = join(scratch, version);
  if (packed.status === 0 && archive) {
    run('mkdir', ['-p', folder]);
    run('tar', ['-xzf', join(scratch, archive), '-C', folder]);
    const node = join(folder, 'package/bin/node');
    if (run(node, ['--version']).status === 0) return node;
  }
  say(`Node.js ${version} cannot be downloaded for ${process.platform} ${process.arch}.`);
  return undefined;
}

function run(program, args) {
  return spawnSync(program, args, { encoding: 'utf8', timeout: DOWNLOAD_MS_MAX });
}

/** Runs the tests; programs that they start by the name `node` are of the same version. */
function test(node) {
  say(
    `Node.js ${run(node, ['--version']).stdout.trim()}: ${isAll ? 'all tests' : 'the short part of the tests'} …`,
  );
  const { status } = spawnSync(node, [inRepository('scripts/test.mjs'), ...(isAll ? [] : SHORT_PART)], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` },
  });
  if (status !== 0) process.exitCode = 1;
}
