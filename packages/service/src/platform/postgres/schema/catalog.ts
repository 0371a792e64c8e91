import type pg from 'pg';

/** A table as PostgreSQL's own catalog describes it. */
export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** Constraints and indexes in SQL, ordered by name. */
  readonly constraints: readonly { name: string; definition: string }[];
  readonly indexes: readonly string[];
}

export interface Column {
  readonly name: string;
  /** In the words of format_type, e.g. `bigint`, `text[]`. */
  readonly type: string;
  readonly isNullable: boolean;
  readonly defaultSql: string | null;
  readonly identity: 'always' | 'by default' | null;
  readonly isGenerated: boolean;
  /** Storage that differs from the type's default, e.g. `external`. */
  readonly storage: string | null;
}

/** Returns every table of the public schema, ordered by name; columns in their order. */
export async function readCatalog(pool: pg.Pool): Promise<Table[]> {
  const { rows } = await pool.query<Table>(`
    select
      c.relname as name,
      (
        select json_agg(json_build_object(
          'name', a.attname,
          'type', format_type(a.atttypid, a.atttypmod),
          'isNullable', not a.attnotnull,
          'defaultSql', pg_get_expr(d.adbin, d.adrelid),
          'identity', case a.attidentity when 'a' then 'always' when 'd' then 'by default' end,
          'isGenerated', a.attgenerated <> '',
          'storage', case when a.attstorage <> t.typstorage then
            case a.attstorage when 'p' then 'plain' when 'e' then 'external' when 'm' then 'main' else 'extended' end
          end
        ) order by a.attnum)
        from pg_attribute a
        join pg_type t on t.oid = a.atttypid
        left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      ) as columns,
      (
        select coalesce(json_agg(json_build_object(
          'name', k.conname, 'definition', pg_get_constraintdef(k.oid)
        ) order by k.conname collate "C"), '[]')
        from pg_constraint k
        where k.conrelid = c.oid and k.contype in ('p', 'u', 'f', 'c', 'x')
      ) as constraints,
      (
        select coalesce(json_agg(pg_get_indexdef(i.indexrelid) order by ic.relname collate "C"), '[]')
        from pg_index i
        join pg_class ic on ic.oid = i.indexrelid
        where i.indrelid = c.oid
          and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))
      ) as indexes
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
    order by c.relname collate "C"`);
  return rows;
}
