import { type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from '../../platform/postgres/index.js';
import { type TableName, tenantColumnOf, tenantTables } from './tables.js';

/** Upper bounds of the rows that one call returns; it returns at least one row if there is any. */
const CHUNK_ROWS_MAX = 20_000;
const CHUNK_BYTES_MAX = 4 * 1_048_576;
/** Rows are read in slices that grow, because PostgreSQL writes all rows of a slice to find how many fit. */
const SLICE_ROWS_FIRST = 100;
const SLICE_GROWTH = 4;

/** Number of parts into which a digest divides a table, so that few rows are copied again if it differs. */
export const BUCKETS = 64;

/** A tenant, with the numbers and ids of its projects, which identify its rows. */
export interface TenantRows {
  readonly tenantId: string;
  readonly projects: readonly { readonly id: string; readonly no: number }[];
}

/** Which rows of a table to read. */
export interface RowRange {
  readonly table: TableName;
  /** The key of the row before the range; absent for the first rows. */
  readonly after?: readonly string[] | undefined;
  /** Only rows that this transaction or later ones have written: the high-water mark of an earlier copy. */
  readonly writtenSince?: string | undefined;
  /** Only rows of this part of the table. */
  readonly bucket?: number | undefined;
}

/** Rows as PostgreSQL writes them, which is exact for every type. */
export interface RowChunk {
  readonly rows: readonly string[];
  /** The key after which the next chunk starts; absent after the last one. */
  readonly next?: readonly string[] | undefined;
}

/** The number of rows in one part of a table, and the sum of their hashes. */
export interface BucketDigest {
  readonly bucket: number;
  readonly rows: number;
  readonly hash: string;
}

interface Column {
  readonly name: string;
  readonly type: string;
  /** Position in the primary key, from 0; null for other columns. */
  readonly place: number | null;
  readonly isRequired: boolean;
  /** An identity column of the table: its value never changes. */
  readonly isNumbered: boolean;
}

/** Returns a text with the columns of all tables of tenants, by which two cells compare their schemas. */
export async function readFingerprint(db: Db): Promise<string> {
  const { rows } = await sql<{ hash: string }>`
    select md5(string_agg(
      format('%s.%s:%s', attrelid::regclass, attname, format_type(atttypid, atttypmod)), ',' order by attrelid::regclass::text, attnum
    )) as hash
    from pg_attribute
    where attrelid = any(${tenantTables()}::text[]::regclass[]) and attnum > 0 and not attisdropped
  `.execute(db);
  return rows[0]?.hash ?? '';
}

export async function hasTenant(db: Db, tenantId: string): Promise<boolean> {
  const { rows } = await sql`select from tenants where id = ${tenantId}`.execute(db);
  return rows.length > 0;
}

/** Returns the projects of a tenant, and the storage of their history. */
export async function readProjects(
  db: Db,
  tenantId: string,
): Promise<{ id: string; no: number; storage: 'shared' | 'dedicated' }[]> {
  const { rows } = await sql<{ id: string; no: number; storage: 'shared' | 'dedicated' }>`
    select id, no, storage from projects where tenant_id = ${tenantId} order by no
  `.execute(db);
  return rows;
}

/**
 * Returns a mark for `writtenSince`. A row that a later read with this mark does not return was already visible when
 * the mark was taken.
 */
export async function readHighWater(db: Db): Promise<string> {
  const { rows } = await sql<{ mark: string }>`
    select pg_snapshot_xmin(pg_current_snapshot())::text as mark
  `.execute(db);
  return rows[0]?.mark ?? '0';
}

/** Returns the next rows of a range, in the order of their primary key. */
export async function exportRows(db: Db, tenant: TenantRows, range: RowRange): Promise<RowChunk> {
  const columns = await readColumns(db, range.table);
  const rows: string[] = [];
  let bytes = 0;
  let { after } = range;
  for (let rowsMax = SLICE_ROWS_FIRST; ; rowsMax *= SLICE_GROWTH) {
    const slice = await readSlice(db, tenant, { ...range, after }, columns, {
      rows: Math.min(rowsMax, CHUNK_ROWS_MAX - rows.length),
      bytes: CHUNK_BYTES_MAX - bytes,
    });
    for (const { row } of slice.rows) {
      rows.push(row);
      bytes += row.length;
    }
    if (slice.isLast) return { rows };
    after = slice.rows.at(-1)?.key;
    if (rows.length >= CHUNK_ROWS_MAX || bytes >= CHUNK_BYTES_MAX) return { rows, next: after };
  }
}

/** Stores exported rows; rows that exist are replaced. The transaction is confined by `writeAsMove`. */
export async function importRows(tx: Tx, table: TableName, rows: readonly string[]): Promise<void> {
  if (rows.length === 0) return;
  const columns = await readColumns(tx, table);
  const key = keyOf(columns);
  const others = columns.filter(({ place, isNumbered }) => place === null && !isNumbered);
  const replace =
    others.length === 0
      ? sql`nothing`
      : sql`update set ${sql.join(others.map(({ name }) => sql`${sql.ref(name)} = excluded.${sql.ref(name)}`))}`;
  await sql`
    insert into ${sql.table(table)} overriding system value
    select (copied.r).* from (
      select line::${sql.table(table)} as r from unnest(${rows}::text[]) as line
    ) copied
    on conflict (${sql.join(key.map(({ name }) => sql.ref(name)))}) do ${replace}
  `.execute(tx);
}

/** Deletes all rows of a tenant in a table, or those of one part of it. */
export async function deleteRows(
  tx: Tx,
  tenant: TenantRows,
  table: TableName,
  bucket?: number,
): Promise<void> {
  const columns = await readColumns(tx, table);
  const part = bucket === undefined ? sql`true` : isInBucket(keyOf(columns), bucket);
  await sql`delete from ${sql.table(table)} t where ${isOwned(tenant, table, columns)} and ${part}`.execute(
    tx,
  );
}

/** Deletes up to `max` rows of a tenant in a table; returns their number. */
export async function deleteSomeRows(
  tx: Tx,
  tenant: TenantRows,
  table: TableName,
  max: number,
): Promise<number> {
  const columns = await readColumns(tx, table);
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table)} where ctid = any(array(
      select t.ctid from ${sql.table(table)} t where ${isOwned(tenant, table, columns)} limit ${max}
    ))
  `.execute(tx);
  return Number(numAffectedRows ?? 0n);
}

/** Returns the digests of the parts of a table that have rows, in the order of their numbers. */
export async function digestRows(db: Db, tenant: TenantRows, table: TableName): Promise<BucketDigest[]> {
  const columns = await readColumns(db, table);
  const { rows } = await sql<BucketDigest>`
    select ${bucketOf(keyOf(columns))} as bucket, count(*) as rows, sum(hashtextextended(t::text, 0))::text as hash
    from ${sql.table(table)} t where ${isOwned(tenant, table, columns)} group by 1 order by 1
  `.execute(db);
  return rows;
}

async function readColumns(db: Db, table: TableName): Promise<Column[]> {
  const { rows } = await sql<Column>`
    select a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
      array_position(string_to_array(i.indkey::text, ' ')::smallint[], a.attnum) - 1 as place, a.attnotnull as "isRequired",
      a.attidentity <> '' as "isNumbered"
    from pg_attribute a join pg_index i on i.indrelid = a.attrelid and i.indisprimary
    where a.attrelid = ${table}::regclass and a.attnum > 0 and not a.attisdropped
    order by a.attnum
  `.execute(db);
  return rows;
}

function keyOf(columns: readonly Column[]): Column[] {
  return columns.filter(({ place }) => place !== null).sort((a, b) => Number(a.place) - Number(b.place));
}

interface Slice {
  readonly rows: readonly { readonly row: string; readonly key: readonly string[] }[];
  /** Whether no row of the range comes after it. */
  readonly isLast: boolean;
}

/** Returns the next rows up to the first that reaches `most.bytes`, and at most `most.rows`. */
async function readSlice(
  db: Db,
  tenant: TenantRows,
  { table, after, writtenSince, bucket }: RowRange,
  columns: readonly Column[],
  most: { readonly rows: number; readonly bytes: number },
): Promise<Slice> {
  const key = keyOf(columns);
  const names = sql.join(key.map(({ name }) => sql`t.${sql.ref(name)}`));
  const conditions = [isOwned(tenant, table, columns)];
  if (after !== undefined) {
    const values = key.map(({ type }, at) => sql`${after[at] ?? null}::text::${sql.raw(type)}`);
    conditions.push(sql`(${names}) > (${sql.join(values)})`);
  }
  // Compares the age of the row, in transactions, with the age of the mark.
  if (writtenSince !== undefined) conditions.push(sql`age(t.xmin) <= age(${writtenSince}::xid8::xid)`);
  if (bucket !== undefined) conditions.push(isInBucket(key, bucket));
  const { rows } = await sql<{ row: string; key: string[]; found: number }>`
    select row, key, found from (
      select row, key, count(*) over () as found,
        sum(octet_length(row)) over (rows unbounded preceding) - octet_length(row) as before
      from (
        select t::text as row, array[${sql.join(key.map(({ name }) => sql`t.${sql.ref(name)}::text`))}] as key
        from ${sql.table(table)} t where ${sql.join(conditions, sql` and `)} order by ${names} limit ${most.rows}
      ) next
    ) counted where before < ${most.bytes}
  `.execute(db);
  const found = rows[0]?.found ?? 0;
  return { rows, isLast: found < most.rows && rows.length === found };
}

function bucketOf(key: readonly Column[]): RawBuilder<number> {
  const text = sql`row(${sql.join(key.map(({ name }) => sql`t.${sql.ref(name)}`))})::text`;
  return sql`(hashtextextended(${text}, 1) & ${sql.lit(BUCKETS - 1)})::integer`;
}

function isInBucket(key: readonly Column[], bucket: number): RawBuilder<boolean> {
  return sql<boolean>`${bucketOf(key)} = ${bucket}`;
}

/** Returns the condition that a row of `t` belongs to the tenant. Keys of most tables begin with the project. */
function isOwned(
  { tenantId, projects }: TenantRows,
  table: TableName,
  columns: readonly Column[],
): RawBuilder<boolean> {
  switch (tenantColumnOf(table)) {
    case 'tenant_id': {
      const isOfProject = columns.some(({ name, isRequired }) => name === 'project_id' && isRequired);
      const ids = projects.map(({ id }) => id);
      return isOfProject
        ? sql`t.tenant_id = ${tenantId} and t.project_id = any(${ids}::text[])`
        : sql`t.tenant_id = ${tenantId}`;
    }
    case 'project_no':
      return sql`t.project_no = any(${projects.map(({ no }) => no)}::integer[])`;
    case 'id':
      return sql`t.id = ${tenantId}`;
    case 'key_hash':
      return sql`t.key_hash in (select key_hash from api_keys where tenant_id = ${tenantId})`;
    case 'payment_id':
      return sql`(t.provider, t.payment_id) in (
        select provider, payment_id from payment_orders where tenant_id = ${tenantId})`;
  }
}
