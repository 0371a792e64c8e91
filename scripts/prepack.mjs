// Runs before `npm pack` and `npm publish` of the SDK or the contract, in the package's folder: builds the
// package and adds what only the tarball needs. The SDK brings the declarations of the contract along, so
// that it installs alone.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { inRepository } from './prepare.mjs';

const folder = process.cwd();
const build = spawnSync(process.execPath, [inRepository('node_modules/typescript/bin/tsc'), '-b', folder], {
  stdio: 'inherit',
});
if (build.status !== 0) process.exit(build.status ?? 1);
copyFileSync(inRepository('LICENSE'), join(folder, 'LICENSE'));
if (basename(folder) === 'sdk') copyContract(join(folder, 'dist/contract'));

function copyContract(target) {
  const source = inRepository('packages/contract/dist');
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const declarations = readdirSync(source).filter((name) => /(?<!\.test)\.d\.ts$/.test(name));
  for (const name of declarations) copyFileSync(join(source, name), join(target, name));
}
