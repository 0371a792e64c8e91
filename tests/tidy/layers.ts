/**
 * The parts of the service and who may use whom: a part may import parts of a lower rank, never its own or a higher
 * one. See ARCHITECTURE.md. A new module gets its rank here.
 */
const RANKS: readonly (readonly string[])[] = [
  ['kernel'],
  ['platform'],
  ['tenancy'],
  ['storage', 'console', 'quotas', 'cells'],
  ['rules', 'ledger', 'usage', 'webhooks', 'losses'],
  ['limits', 'counters', 'analysis', 'catalog', 'archive'],
  ['boards', 'ingest', 'pipeline', 'checkout', 'trial'],
  ['verify', 'stripe-sandbox', 'moves', 'corrections'],
  ['rebuild'],
  ['main'],
];

const SERVICE = 'packages/service/src/';

/** Where a file of the service belongs. */
export interface Place {
  /** Name of the rank's entry: `kernel`, `platform`, a module, `main`; `testing` stands outside the ranks. */
  readonly part: string;
  /** Folder that is entered only through its index.ts, e.g. `modules/rules`; the file itself where there is none. */
  readonly unit: string;
  /** Path inside packages/service/src. */
  readonly path: string;
}

/** The place of a path of the repository, or undefined outside the service's sources. */
export function placeOf(path: string): Place | undefined {
  if (!path.startsWith(SERVICE)) return undefined;
  const inside = path.slice(SERVICE.length);
  const [first = '', second = ''] = inside.split('/');
  if (first === 'modules') return { part: second, unit: `modules/${second}`, path: inside };
  if (first === 'platform' && second.endsWith('.ts')) return { part: first, unit: inside, path: inside };
  if (first === 'platform') return { part: first, unit: `platform/${second}`, path: inside };
  if (first === 'kernel' || first === 'testing' || first === 'main') {
    return { part: first, unit: first, path: inside };
  }
  // config.ts and index.ts at the top are read and made by the composition roots only.
  return { part: 'main', unit: 'main', path: inside };
}

/** Height of a part; undefined for a part that has no rank yet. */
export function rankOf(part: string): number | undefined {
  const rank = RANKS.findIndex((parts) => parts.includes(part));
  return rank < 0 ? undefined : rank;
}

/** Kernel and rule evaluation: a function of its arguments, so that a replay gives the same numbers. */
export function isPure(place: Place): boolean {
  return (
    place.part === 'kernel' || /^modules\/rules\/(extract|expression|price-table|pricing)\//.test(place.path)
  );
}

export function isTest(path: string): boolean {
  return /\.test\.tsx?$/.test(path) || path.startsWith('tests/');
}

/** Test code and what only tests use: `testing/`, `testing.ts` and `*.testing.ts`. */
export function isForTests(path: string): boolean {
  return isTest(path) || path.startsWith(`${SERVICE}testing/`) || /[./]testing\.ts$/.test(path);
}

export function isStore(path: string): boolean {
  return /(^|[/-])store\.ts$/.test(path);
}

export function isRoutes(path: string): boolean {
  return /(^|[/-])routes\.ts$/.test(path);
}
