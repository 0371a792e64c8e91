import { readFile } from 'node:fs/promises';
import { type AppliedCatalog, CatalogFile } from '@tollgate/contract';
import type { Config } from '../../config.js';
import { systemClock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import { applyCatalog } from '../../modules/catalog/index.js';
import { checkAsBody } from '../../platform/http/index.js';
import { exitOnSignal } from '../signals.js';
import { StartError } from '../start-error.js';
import type { Stores } from '../stores.js';
import { doTask } from '../with-stores.js';

/** `tollgate catalog apply FILE`: adds a revision of every plan of the file that is new or changed. */
export async function applyCatalogFile(config: Config, path: string): Promise<number> {
  exitOnSignal();
  const file = await readCatalogFile(path);
  const applied = await doTask(config, {
    run: (stores) => applyTo(stores, file),
    path: '/admin/v1/catalog/apply',
    body: file,
  });
  console.log(describeApplied(applied));
  return 0;
}

/** @throws StartError naming the first problem and its place */
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

/** Returns one line per plan. */
export function describeApplied({ changed, unchanged }: AppliedCatalog): string {
  return [
    ...changed.map(({ id, revision }) => `${id}: revision ${revision}`),
    ...unchanged.map((id) => `${id}: unchanged`),
  ].join('\n');
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new StartError(`${path} is not JSON: ${(error as Error).message}.`);
  }
}

async function applyTo({ postgres }: Stores, file: CatalogFile): Promise<AppliedCatalog> {
  try {
    return await applyCatalog({ postgres, clock: systemClock }, file);
  } catch (error) {
    throw describedBy('the file', error);
  }
}

/** Turns a domain error into a StartError that lists every wrong place; returns other errors unchanged. */
function describedBy(what: string, error: unknown): unknown {
  if (!(error instanceof DomainError)) return error;
  const places = (error.details ?? []).map(({ path, message }) => `${path || 'the whole file'}: ${message}`);
  return new StartError(`${what} is not a valid catalog: ${places.join('; ')}.`);
}
