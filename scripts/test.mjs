// `npm test [-- <vitest arguments>]`: from a bare clone to the result of all tests. The last line is the summary
// `N passed, N failed`, alone, for programs that read it.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { inRepository, prepare, say } from './prepare.mjs';

prepare('tsconfig.json');
say('running the tests …');
const folder = mkdtempSync(join(tmpdir(), 'tollgate-test-'));
const report = join(folder, 'report.json');
const vitest = spawn(
  process.execPath,
  [
    inRepository('node_modules/vitest/vitest.mjs'),
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ],
  { cwd: inRepository(''), stdio: ['ignore', 'inherit', 'inherit'] },
);
// A terminal sends Ctrl-C to vitest as well; this process only has to outlive it.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => vitest.kill(signal));
vitest.once('exit', (code, signal) => {
  const exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
  const { passed, failed } = count(exitCode);
  rmSync(folder, { recursive: true, force: true });
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 && exitCode === 0 ? 1 : exitCode;
});

/** Counts tests; a file that could not be loaded, and a run that failed without a failed test, count as one failure. */
function count(exitCode) {
  let passed = 0;
  let failed = 0;
  try {
    const result = JSON.parse(readFileSync(report, 'utf8'));
    passed = result.numPassedTests;
    failed = result.numFailedTests;
    for (const file of result.testResults) {
      const hasFailedTest = file.assertionResults.some((test) => test.status === 'failed');
      if (file.status === 'failed' && !hasFailedTest) failed += 1;
    }
  } catch {
    // vitest ended before it wrote a report; its exit code says that it failed.
  }
  return { passed, failed: exitCode !== 0 && failed === 0 ? 1 : failed };
}
