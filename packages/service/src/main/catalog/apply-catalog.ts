import { readFile } from 'node:fs/promises';
import { type AppliedCatalog, CatalogFile, type ErrorBody } from '@tollgate/contract';
import type { Config } from '../../config.js';
import { systemClock } from '../../kernel/clock.js';
import { applyCatalog } from '../../modules/catalog/index.js';
import { loadServiceKey } from '../../modules/tenancy/index.js';
import { ApiError, checkAsBody } from '../../platform/http/index.js';
import { InstanceLockedError } from '../../platform/instance-lock.js';
import { createLog } from '../../platform/log/index.js';
import { prepareDataDir } from '../data-dir.js';
import { announcedUrl, withInstanceLock } from '../instance.js';
import { exitOnSignal } from '../signals.js';
import { StartError } from '../start-error.js';
import { openStores } from '../stores.js';

/**
 * `tollgate catalog apply FILE`: adds a revision of every plan of the file that is new or changed. Beside a running service on
 * embedded stores, which belong to one process, that service does it.
 */
export async function applyCatalogFile(config: Config, path: string): Promise<number> {
  exitOnSignal();
  const file = await readCatalogFile(path);
  const applied = await applyHere(config, file).catch((error) => {
    if (error instanceof InstanceLockedError) return applyThere(config, file, error);
    throw error;
  });
  console.log(describeApplied(applied));
  return 0;
}

/** @throws StartError naming the first thing that is wrong, and where */
export async function readCatalogFile(path: string): Promise<CatalogFile> {
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new StartError(`Cannot read ${path}: ${error.message}.`);
  });
  const file = parse(text, path);
  try {
    checkAsBody(CatalogFile, file);
  } catch (error) {
    throw describedBy(path, error);
  }
  return file as CatalogFile;
}

/** One line per plan. */
export function describeApplied({ changed, unchanged }: AppliedCatalog): string {
  return [
    ...changed.map(({ id, revision }) => `${id}: revision ${revision}`),
    ...unchanged.map((id) => `${id}: as it was`),
  ].join('\n');
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new StartError(`${path} is not JSON: ${(error as Error).message}.`);
  }
}

async function applyHere(config: Config, file: CatalogFile): Promise<AppliedCatalog> {
  const log = createLog({ level: config.logLevel === 'info' ? 'warn' : config.logLevel });
  prepareDataDir(config.dataDir);
  return withInstanceLock(config, async () => {
    const onUnexpectedExit = (reason: string) => log.error(reason);
    const stores = await openStores(config, { log, onProgress: () => {}, onUnexpectedExit });
    try {
      return await applyCatalog({ postgres: stores.postgres, clock: systemClock }, file);
    } catch (error) {
      throw describedBy('the file', error);
    } finally {
      await stores.close();
    }
  });
}

async function applyThere(
  config: Config,
  file: CatalogFile,
  locked: InstanceLockedError,
): Promise<AppliedCatalog> {
  const url = announcedUrl(config.dataDir);
  if (url === undefined) throw locked;
  const { text: key } = await loadServiceKey(config.dataDir, config.serviceKey);
  const response = await fetch(`${url}/admin/v1/catalog/apply`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(file),
  });
  if (response.ok) return (await response.json()) as AppliedCatalog;
  const { error } = (await response.json()) as ErrorBody;
  throw new StartError(`The running service answered ${response.status}: ${error}`);
}

/** What is wrong with the file, one place after the other; other errors as they are. */
function describedBy(what: string, error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const places = (error.details ?? []).map(({ path, message }) => `${path || 'the whole'}: ${message}`);
  return new StartError(`There is something wrong with ${what}: ${places.join('; ')}.`);
}
