// Shared by `npm start` and `npm test`: brings a bare clone to a built state, doing only what is needed. Uses
// nothing but Node itself, because nothing else may be installed yet.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const NODE_MIN = [20, 20];
const root = fileURLToPath(new URL('..', import.meta.url));

/** Absolute path of a file of the repository. */
export const inRepository = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/**
 * Installs what is missing and builds what is stale of a project and those it refers to; ends the process
 * with one clear sentence when it cannot.
 */
export function prepare(project) {
  checkNode();
  if (!isInstalled()) {
    say('installing packages (only when package-lock.json has changed) …');
    run('npm ci', npm(['ci', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']));
  }
  say('building …');
  run('the build', [
    process.execPath,
    inRepository('node_modules/typescript/bin/tsc'),
    '-b',
    inRepository(project),
  ]);
  bundle();
}

/** Bundles the console and the program, each when what it is made from has changed since. */
export function bundle() {
  for (const { folder, stamp, hash } of staleBundles()) {
    const vite = inRepository('node_modules/vite/bin/vite.js');
    run(`bundling ${folder}`, [process.execPath, vite, 'build', '--logLevel', 'warn', inRepository(folder)]);
    writeFileSync(stamp, hash);
  }
}

/** Whether both bundles are of what is compiled now. */
export function isBundled() {
  return staleBundles().length === 0;
}

function staleBundles() {
  const compiled = ['contract', 'sdk', 'service', 'timezone'].flatMap((name) => [
    ...files(`packages/${name}/dist`, /(?<!\.test)\.js$/),
    `packages/${name}/package.json`,
  ]);
  const bundles = [
    ['packages/service', 'dist/bundle', compiled.filter((path) => !path.includes('/dist/bundle/'))],
    [
      'packages/console',
      'dist/web',
      [
        ...files('packages/console/src', /(?<!\.test)\.(ts|tsx|css)$/),
        ...files('packages/contract/src', /(?<!\.test)\.ts$/),
        ...files('packages/sdk/src', /(?<!\.test)\.ts$/),
        ...files('packages/timezone/src', /(?<!\.test)\.ts$/),
        'packages/console/index.html',
      ],
    ],
  ];
  return bundles
    .map(([folder, output, sources]) => ({
      folder,
      stamp: inRepository(`${folder}/${output}/.made-from`),
      hash: hashOf([...sources, `${folder}/vite.config.ts`, 'package-lock.json']),
    }))
    .filter(({ stamp, hash }) => !existsSync(stamp) || readFileSync(stamp, 'utf8') !== hash);
}

/** Paths of the files below a folder, in a fixed order. */
function files(folder, pattern) {
  if (!existsSync(inRepository(folder))) return [];
  return readdirSync(inRepository(folder), { recursive: true })
    .map((name) => `${folder}/${name}`)
    .filter((path) => pattern.test(path))
    .sort();
}

function hashOf(paths) {
  const hash = createHash('sha256');
  for (const path of paths)
    hash
      .update(`${path}\0`)
      .update(readFileSync(inRepository(path)))
      .update('\0');
  return hash.digest('hex');
}

export function say(text) {
  console.log(`tollgate: ${text}`);
}

function fail(text) {
  console.error(`tollgate: ${text}`);
  process.exit(1);
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])) return;
  fail(`Node.js ${NODE_MIN.join('.')} or newer is needed; this is ${process.versions.node}.`);
}

/**
 * Whether node_modules holds what package-lock.json asks for. npm writes node_modules/.package-lock.json as the last
 * step of an install, so an interrupted one does not count. Packages for other platforms are optional and may lack.
 */
function isInstalled() {
  const installedLock = inRepository('node_modules/.package-lock.json');
  if (!existsSync(installedLock)) return false;
  const wanted = packagesOf(inRepository('package-lock.json'));
  const installed = packagesOf(installedLock);
  return Object.entries(wanted).every(([path, entry]) => {
    if (!path.startsWith('node_modules/')) return true;
    const found = installed[path];
    if (found === undefined) return entry.optional === true;
    return found.version === entry.version && found.integrity === entry.integrity;
  });
}

function packagesOf(lockFile) {
  return JSON.parse(readFileSync(lockFile, 'utf8')).packages;
}

/** The npm that started this script, or the one on the path. */
function npm(args) {
  const program = process.env.npm_execpath;
  if (program?.endsWith('.js')) return [process.execPath, program, ...args];
  return [process.platform === 'win32' ? 'npm.cmd' : 'npm', ...args];
}

function run(what, [program, ...args]) {
  const result = spawnSync(program, args, { cwd: root, stdio: 'inherit' });
  if (result.signal !== null) process.kill(process.pid, result.signal);
  if (result.error !== undefined) fail(`${what} could not be started: ${result.error.message}`);
  if (result.status !== 0) fail(`${what} failed; the lines above say why.`);
}
