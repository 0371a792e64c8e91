import type { CellInfo } from '@tollgate/contract';
import type { Config } from '../config.js';
import { integer, readCellName, readServiceUrl } from '../config-values.js';
import { systemClock } from '../kernel/clock.js';
import {
  beginDraining,
  type Cell,
  type CellReport,
  findCell,
  listCells,
  listPlaces,
  migrateDirectory,
  putCell,
} from '../modules/cells/index.js';
import { createLog } from '../platform/log/index.js';
import { readMigrations } from '../platform/migration-files.js';
import type { Postgres } from '../platform/postgres/index.js';
import { openDirectory } from './cell.js';
import { StartError } from './start-error.js';

const RESPONSE_MS_MAX = 10_000;
const CAPACITY = '50000';
const CAPACITY_MAX = 10_000_000;
const CELL_NUMBER_MAX = 127;
/** Upper bound of the tenants of a draining cell that are listed. */
const TENANTS_LISTED_MAX = 20;

/** Options of `tollgate cell add`, as they were given. */
export interface CellArguments {
  readonly url?: string | undefined;
  readonly number?: string | undefined;
  readonly capacity?: string | undefined;
}

/** `tollgate cell add NAME --url URL [--number N] [--capacity N]` */
export function addCell(config: Config, name: string, options: CellArguments): Promise<number> {
  if (options.url === undefined)
    throw new StartError('tollgate cell add needs --url, the URL of the API of the cell.');
  const cell = {
    name: checked('NAME', name, readCellName),
    url: checked('--url', options.url, readServiceUrl),
    capacity: checked('--capacity', options.capacity ?? CAPACITY, integer(1, CAPACITY_MAX)),
    number: options.number && checked('--number', options.number, integer(0, CELL_NUMBER_MAX)),
  };
  return withDirectory(config, async (directory) => {
    const info = await askCell(config, cell.url);
    const number = checkCell(info, cell, await findCell(directory, cell.name));
    const added = await putCell(directory, { ...cell, number });
    if (added === undefined) throw new StartError(numberRefusal(cell.name, number, info));
    console.log(
      `Cell "${added.name}" is in the directory: number ${added.number}, ${added.url}, meant for ${added.capacity.toLocaleString('en')} events/s.`,
    );
    if (info.name === null) {
      console.log(`Restart its processes with TOLLGATE_DIRECTORY_URL and TOLLGATE_CELL=${added.name}.`);
    }
    return 0;
  });
}

/** `tollgate cell list` */
export function printCells(config: Config): Promise<number> {
  return withDirectory(config, async (directory) => {
    const cells = await listCells(directory);
    console.log(cells.length === 0 ? 'The directory has no cells.' : cellTable(cells, systemClock.nowMs()));
    return 0;
  });
}

/** `tollgate cell drain NAME` */
export function drainCell(config: Config, name: string): Promise<number> {
  return withDirectory(config, async (directory) => {
    if (!(await beginDraining(directory, name))) throw new StartError(`The directory has no cell "${name}".`);
    console.log(`Cell "${name}" takes no new tenants.`);
    const tenants = await listPlaces(directory, name, '', TENANTS_LISTED_MAX + 1);
    for (const { tenantId, toCell } of tenants.slice(0, TENANTS_LISTED_MAX)) {
      console.log(toCell === null ? `  ${tenantId}` : `  ${tenantId} (moving to ${toCell})`);
    }
    if (tenants.length > TENANTS_LISTED_MAX) console.log('  …');
    return 0;
  });
}

/** Returns the lines of `tollgate cell list`. */
export function cellTable(cells: readonly CellReport[], nowMs: number): string {
  const rows = cells.map((cell) => [
    cell.name,
    String(cell.number),
    cell.status,
    cell.tenants.toLocaleString('en'),
    String(cell.tenantsMoving),
    cell.reportedAtMs === null ? '-' : Math.round(cell.eventsPerSecond).toLocaleString('en'),
    cell.reportedAtMs === null ? '-' : `${Math.round((100 * cell.eventsPerSecond) / cell.capacity)} %`,
    cell.reportedAtMs === null ? 'never' : `${Math.round((nowMs - cell.reportedAtMs) / 1_000)} s ago`,
    cell.url,
  ]);
  const titles = ['CELL', 'NUMBER', 'STATUS', 'TENANTS', 'MOVING', 'EVENTS/S', 'LOAD', 'REPORTED', 'URL'];
  const isNumeric = [false, true, false, true, true, true, true, true, false];
  const widths = titles.map((title, at) =>
    Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    row
      .map((text, at) => (isNumeric[at] ? text.padStart(widths[at] ?? 0) : text.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd();
  return [titles, ...rows].map(line).join('\n');
}

/** Gets the facts that the directory needs about the installation at a URL. @throws StartError */
async function askCell({ serviceKey }: Config, url: string): Promise<CellInfo> {
  if (serviceKey === undefined)
    throw new StartError('Set TOLLGATE_SERVICE_KEY, which must be the same in all cells.');
  let response: Response;
  try {
    response = await fetch(`${url.replace(/\/$/, '')}/admin/v1/cell`, {
      headers: { authorization: `Bearer ${serviceKey}` },
      signal: AbortSignal.timeout(RESPONSE_MS_MAX),
    });
  } catch (error) {
    const { code, message } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
    throw new StartError(
      `${url} does not respond (${code ?? message}): first start the installation, without TOLLGATE_CELL.`,
    );
  }
  if (response.status === 401) {
    throw new StartError(
      `The service at ${url} has another service key. All cells need the same TOLLGATE_SERVICE_KEY.`,
    );
  }
  if (!response.ok) {
    throw new StartError(
      `${url} responds with ${response.status}: it is not a Tollgate service of this release.`,
    );
  }
  return (await response.json()) as CellInfo;
}

/** Returns the number that the cell must get; undefined if it may get any number. @throws StartError */
function checkCell(
  info: CellInfo,
  cell: { readonly name: string; readonly url: string; readonly number: number | '' | undefined },
  known: Cell | undefined,
): number | undefined {
  const version = readMigrations('postgres').length;
  if (info.schema_version !== version) {
    throw new StartError(
      `The service at ${cell.url} has schema version ${info.schema_version}, and this program has ${version}: use the same release.`,
    );
  }
  if (info.name !== null && info.name !== cell.name) {
    throw new StartError(`The service at ${cell.url} is cell "${info.name}", not "${cell.name}".`);
  }
  const number = cell.number === '' ? undefined : cell.number;
  if (known !== undefined || !info.numbers_used) return number;
  if (number === undefined || number === 0) return 0;
  throw new StartError(`${cell.url} already has projects or limits, so it can only be cell number 0.`);
}

function numberRefusal(name: string, number: number | undefined, info: CellInfo): string {
  if (number === undefined) return 'The directory is full: it has the maximum of 128 cells.';
  return info.numbers_used && number === 0
    ? `Cell "${name}" already has projects or limits, so it needs number 0, which another cell has.`
    : `Number ${number} belongs to another cell, or cell "${name}" already has a different number.`;
}

/** Runs `work` with the directory that the settings name. @throws StartError */
export async function withDirectory(
  config: Config,
  work: (directory: Postgres) => Promise<number>,
): Promise<number> {
  if (config.directoryUrl === undefined) {
    throw new StartError('Set TOLLGATE_DIRECTORY_URL to the database of the directory.');
  }
  const log = createLog({ level: 'warn' });
  const directory = await openDirectory(config.directoryUrl, log);
  try {
    await migrateDirectory(directory, log);
    return await work(directory);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isAway = code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'ETIMEDOUT';
    throw isAway ? new StartError(`The directory is not reachable: ${message}.`) : error;
  } finally {
    await directory.close();
  }
}

function checked<T>(name: string, text: string, read: (text: string) => T): T {
  try {
    return read(text);
  } catch (error) {
    throw new StartError(`${name} must be ${(error as Error).message}.`);
  }
}
