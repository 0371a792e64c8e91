import { sql } from 'kysely';
import type { Logger } from '../../platform/log/index.js';
import { MigrationError } from '../../platform/migration-files.js';
import {
  applyMigrations,
  checkMigrations,
  type Postgres,
  transaction,
} from '../../platform/postgres/index.js';
import { PLACE, type TenantPlace } from './place-store.js';

/** A connection to the database of the directory, never to that of a cell. */
type Directory = Pick<Postgres, 'db'>;

/** A cell as the directory knows it. */
export interface Cell {
  readonly name: string;
  readonly number: number;
  /** URL of its API, to which other cells forward requests. */
  readonly url: string;
  /** A draining cell takes no new tenants. */
  readonly status: 'active' | 'draining';
  /** Events per second that the cell can carry. */
  readonly capacity: number;
}

/** A cell with what it reported last. */
export interface CellReport extends Cell {
  readonly tenants: number;
  /** Tenants that are moving to another cell. */
  readonly tenantsMoving: number;
  readonly eventsPerSecond: number;
  /** Unix milliseconds; null before the first report. */
  readonly reportedAtMs: number | null;
}

/** A tenant's place, with the URL of its cell. */
export interface TenantRoute extends TenantPlace {
  readonly url: string;
}

/** A tenant and its addresses. */
export interface Registration {
  readonly tenantId: string;
  readonly addresses: readonly string[];
}

/** Upper bound of the cells in one directory. */
export const CELLS_MAX = 128;

const CELL = sql.raw('name, number, url, status, capacity');

/** Creates or upgrades the tables of the directory. @throws MigrationError */
export async function migrateDirectory(
  postgres: Pick<Postgres, 'pool' | 'db'>,
  log?: Pick<Logger, 'warn'>,
): Promise<void> {
  await requireNoCell(postgres);
  await applyMigrations(postgres, { storeName: 'directory', log });
}

/** Changes nothing. @throws MigrationError if this release does not work with the tables of the directory */
export async function checkDirectory(postgres: Pick<Postgres, 'pool' | 'db'>): Promise<void> {
  await requireNoCell(postgres);
  await checkMigrations(postgres, 'directory');
}

async function requireNoCell({ db }: Directory): Promise<void> {
  const { rows } = await sql<{ isCell: boolean }>`
    select to_regclass('segments') is not null as "isCell"
  `.execute(db);
  if (rows[0]?.isCell === true) {
    throw new MigrationError('This is the database of a cell; the directory needs a database of its own.');
  }
}

export interface NewCell {
  readonly name: string;
  readonly url: string;
  readonly capacity: number;
  /** Default: the lowest free number. */
  readonly number?: number | undefined;
}

/**
 * Adds a cell, or changes the URL and the capacity of a known cell; the cell is active afterwards. Returns undefined if
 * the number is taken, if the known cell has another number, or if no number is free.
 */
export function putCell(postgres: Postgres, cell: NewCell): Promise<Cell | undefined> {
  const { name, url, capacity, number = null } = cell;
  return transaction(postgres, async (tx) => {
    await sql`lock table cells in share row exclusive mode`.execute(tx);
    const { rows } = await sql<Cell>`
      with chosen as (
        select coalesce(
          (select number from cells where name = ${name}),
          ${number}::integer,
          (select min(free) from generate_series(0, ${CELLS_MAX - 1}) as free
            where not exists (select from cells where number = free))
        ) as number
      )
      insert into cells (name, number, url, capacity)
      select ${name}, number, ${url}, ${capacity} from chosen
      where number = coalesce(${number}, number)
        and not exists (select from cells where cells.number = chosen.number and name <> ${name})
      on conflict (name) do update
        set url = excluded.url, capacity = excluded.capacity, status = 'active'
      returning ${CELL}
    `.execute(tx);
    return rows[0];
  });
}

export async function findCell({ db }: Directory, name: string): Promise<Cell | undefined> {
  const { rows } = await sql<Cell>`select ${CELL} from cells where name = ${name}`.execute(db);
  return rows[0];
}

/** Returns all cells, ordered by number. */
export async function listCells({ db }: Directory): Promise<CellReport[]> {
  const { rows } = await sql<CellReport>`
    select ${CELL}, events_per_second as "eventsPerSecond",
      (extract(epoch from reported_at) * 1000)::bigint as "reportedAtMs",
      (select count(*) from tenants where cell = name) as tenants,
      (select count(*) from tenants where cell = name and state <> 'active') as "tenantsMoving"
    from cells order by number
  `.execute(db);
  return rows;
}

/** Marks a cell as draining. Returns false when there is no such cell. */
export async function beginDraining({ db }: Directory, name: string): Promise<boolean> {
  const { rows } = await sql`
    update cells set status = 'draining' where name = ${name} returning name
  `.execute(db);
  return rows.length > 0;
}

/** The number of events that a cell rates. */
export interface EventLoad {
  /** Events of its tenants that have been rated in all. */
  readonly total: number;
  /** Undefined before a second measurement. */
  readonly perSecond: number | undefined;
}

/** Records the load of a cell. Without a rate, the last one stays. Any number of its processes may report. */
export async function reportEvents(
  { db }: Directory,
  cell: string,
  { total, perSecond }: EventLoad,
): Promise<void> {
  await sql`
    update cells set events_per_second = coalesce(${perSecond ?? null}::double precision, events_per_second),
      events_total = ${total}, reported_at = now()
    where name = ${cell}
  `.execute(db);
}

/**
 * Returns the cell that takes the next tenant: an active one with the least load, in steps of a tenth of its capacity;
 * among those, the one with the fewest tenants for its capacity. Undefined when no cell is active.
 */
export async function chooseCell({ db }: Directory): Promise<Cell | undefined> {
  const { rows } = await sql<Cell>`
    select ${CELL} from cells where status = 'active'
    order by floor(10 * events_per_second / capacity),
      (select count(*) from tenants where coalesce(to_cell, cell) = name) / capacity::double precision, number
    limit 1
  `.execute(db);
  return rows[0];
}

/** Registers a new tenant in a cell; returns false, and registers nothing, unless the cell is active. */
export async function insertTenantOf({ db }: Directory, cell: string, tenantId: string): Promise<boolean> {
  const { rows } = await sql`
    with chosen as (
      select name from cells where name = ${cell} and status = 'active' for share
    ), tenant as (
      insert into tenants (tenant_id, cell) select ${tenantId}, name from chosen returning tenant_id
    )
    insert into addresses (address, tenant_id) select tenant_id, tenant_id from tenant returning address
  `.execute(db);
  return rows.length > 0;
}

/** Removes a tenant whose creation in its cell failed. Returns false if its place has changed. */
export function removeTenant(postgres: Postgres, { tenantId, version }: TenantPlace): Promise<boolean> {
  return transaction(postgres, async (tx) => {
    const { rows } = await sql`
      select from tenants where tenant_id = ${tenantId} and version = ${version} for update
    `.execute(tx);
    if (rows.length === 0) return false;
    await sql`delete from addresses where tenant_id = ${tenantId}`.execute(tx);
    await sql`delete from tenants where tenant_id = ${tenantId}`.execute(tx);
    return true;
  });
}

/** Adds an address of a registered tenant; a repeated call changes nothing. */
export async function insertAddress({ db }: Directory, address: string, tenantId: string): Promise<void> {
  await sql`
    insert into addresses (address, tenant_id) values (${address}, ${tenantId}) on conflict do nothing
  `.execute(db);
}

/**
 * Registers tenants that a cell already has. Tenants that are in another cell according to the directory, or that are
 * being moved, are not changed; their places are returned.
 */
export function registerExisting(
  postgres: Postgres,
  cell: string,
  registrations: readonly Registration[],
): Promise<TenantPlace[]> {
  const tenantIds = registrations.map(({ tenantId }) => tenantId);
  const pairs = registrations.flatMap(({ tenantId, addresses }) =>
    addresses.map((address) => ({ address, tenantId })),
  );
  return transaction(postgres, async (tx) => {
    await sql`
      insert into tenants (tenant_id, cell) select id, ${cell} from unnest(${tenantIds}::text[]) as id
      on conflict do nothing
    `.execute(tx);
    await sql`
      insert into addresses (address, tenant_id)
      select * from unnest(
        ${pairs.map(({ address }) => address)}::text[], ${pairs.map(({ tenantId }) => tenantId)}::text[])
      on conflict do nothing
    `.execute(tx);
    const { rows } = await sql<TenantPlace>`
      select ${PLACE} from tenants
      where tenant_id = any(${tenantIds}::text[]) and (cell <> ${cell} or state <> 'active') order by tenant_id
    `.execute(tx);
    return rows;
  });
}

/** Returns the number of tenants and of addresses that the directory has for a cell. */
export async function countRegistered(
  { db }: Directory,
  cell: string,
): Promise<{ tenants: number; addresses: number }> {
  const { rows } = await sql<{ tenants: number; addresses: number }>`
    select (select count(*) from tenants where cell = ${cell}) as tenants,
      (select count(*) from addresses join tenants using (tenant_id) where cell = ${cell}) as addresses
  `.execute(db);
  return rows[0] ?? { tenants: 0, addresses: 0 };
}

/** Returns the tenant that an address names, and the URL of its cell. */
export async function findTenantRoute({ db }: Directory, address: string): Promise<TenantRoute | undefined> {
  const { rows } = await sql<TenantRoute>`
    select ${PLACE}, url from addresses
    join tenants using (tenant_id) join cells on name = cell
    where address = ${address}
  `.execute(db);
  return rows[0];
}
