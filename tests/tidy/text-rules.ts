import { dirname } from 'node:path';
import type { Finding } from './finding.js';
import { repositoryRoot, type TextFile } from './source.js';

/** Marks of unfinished work. Spelled in parts, so that this file does not find itself. */
const UNFINISHED = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X', 'HA' + 'CK'].join('|')})\\b`);

/** Home folders of people and of root. A machine's own path is no use on another. */
const HOME_PATH = new RegExp(
  `(^|[\\s"'\`(=:])(/${'home'}/[a-z]|/${'Users'}/[A-Za-z]|/${'root'}/|[A-Z]:\\\\)`,
);
const REGISTRY = /registry\.(npmjs|yarnpkg)\.|"resolved": "https?:/;

/** Finds text that must not appear anywhere in the repository. */
export function textFindings(file: TextFile): Finding[] {
  const found: Finding[] = [];
  const parent = `${dirname(repositoryRoot.replace(/\/$/, ''))}/`;
  file.text.split('\n').forEach((text, index) => {
    const report = (rule: string, advice: string) =>
      found.push({ rule, path: file.path, line: index + 1, advice });
    if (UNFINISHED.test(text) && !file.path.endsWith('package-lock.json')) {
      report('unfinished', 'finish it, or write down in the docs what is not supported.');
    }
    // A checkout right under the root has no path worth looking for.
    const isMachinePath = HOME_PATH.test(text) || (parent.length > 3 && text.includes(parent));
    if (isMachinePath)
      report('machine-path', 'no path of a machine: derive it from import.meta.url or os.tmpdir().');
    if (REGISTRY.test(text)) report('registry', 'no address of a package registry: npm knows its own.');
  });
  return found;
}

interface LockEntry {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** Dependencies are exact, and the lock file knows the packages of every platform, or `npm ci` refuses it. */
export function dependencyFindings(files: readonly TextFile[]): Finding[] {
  return files.flatMap((file) => {
    if (file.path === 'package-lock.json') return lockFindings(file);
    return file.path.endsWith('package.json') ? manifestFindings(file) : [];
  });
}

function manifestFindings(file: TextFile): Finding[] {
  const manifest = JSON.parse(file.text) as Manifest;
  const all = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
  return all
    .filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.-]+)?$/.test(version))
    .map(([name, version]) => ({
      rule: 'exact-versions',
      path: file.path,
      line: 1,
      advice: `${name} ${version}: pin the exact version (npm install --save-exact).`,
    }));
}

function lockFindings(file: TextFile): Finding[] {
  const { packages } = JSON.parse(file.text) as { packages: Record<string, LockEntry> };
  const paths = Object.keys(packages);
  const isListed = (name: string) => paths.some((path) => path.endsWith(`node_modules/${name}`));
  return Object.values(packages)
    .flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}))
    .filter((name) => !isListed(name))
    .map((name) => ({
      rule: 'whole-lock-file',
      path: file.path,
      line: 1,
      advice: `optional package ${name} is missing: npm ci would refuse the file. Add its entry (version, os, cpu, optional).`,
    }));
}
