import { type RawBuilder, sql } from 'kysely';
import { present } from '../../../kernel/present.js';
import { arrayLiteral, type Tx, uuidArray } from '../../../platform/postgres/index.js';
import { storedValue } from './counted-values.js';
import { PAST_KEY, pastKeyLists, windowKeyOf } from './store.js';
import type { WindowSum } from './subject-usage.js';

/** How many values a window keeps. */
export interface ValueSet {
  kept: number;
  /** Occurrences of values that are not kept. */
  missed: number;
  /** The greatest quantity that is not kept, as it is stored; undefined where all are, and for other values. */
  missedUpTo: string | undefined;
}

/** The stored values of a window that a batch changes. */
export interface KnownValues {
  readonly set: ValueSet;
  /** By stored value; a value that is not stored is absent. */
  readonly occurrences: ReadonlyMap<string, number>;
  /** The greatest stored quantity that is in force; undefined without one, and for a rule that has none. */
  readonly greatest: string | undefined;
}

/** The change of the values of one window, as data. */
export interface ValueChange {
  readonly sum: WindowSum;
  /** By stored value: how often it has occurred by now; 0 for a value that is not kept any more. */
  readonly occurrences: ReadonlyMap<string, number>;
  readonly set: ValueSet;
}

/** Reads what the windows have of the values that a batch counts, in the order of the sums, with two statements. */
export async function readKnownValues(tx: Tx, sums: readonly WindowSum[]): Promise<KnownValues[]> {
  const { rows } = await sql<{ kept: number; missed: number; up_to: string | null; greatest: string | null }>`
    select coalesce(s.kept, 0) as kept, coalesce(s.missed, 0) as missed, ${digits(sql`s.missed_up_to`)} as up_to,
      ${digits(greatestOf(sql`v.is_maximum`))} as greatest
    from unnest(${keyLists(sums)}, ${arrayLiteral(sums, ({ rule }) => String(rule.measure === 'max'))}::boolean[])
      with ordinality as v (${PAST_KEY}, is_maximum, position)
    left join window_value_sets s on ${isNamed('s')}
    order by v.position
  `.execute(tx);
  const occurrences = await readOccurrences(tx, sums);
  return rows.map(({ kept, missed, up_to, greatest }, index) => ({
    set: { kept, missed, missedUpTo: up_to ?? undefined },
    occurrences: present(occurrences[index], 'the occurrences of values'),
    greatest: greatest ?? undefined,
  }));
}

async function readOccurrences(tx: Tx, sums: readonly WindowSum[]): Promise<Map<string, number>[]> {
  const asked = sums.flatMap((sum, index) =>
    [...(sum.values ?? [])].map(([value]) => ({ sum, index, value: storedValue(value) })),
  );
  const { rows } = await sql<{ position: number; occurrences: number }>`
    select v.position, w.occurrences
    from unnest(${keyLists(asked.map(({ sum }) => sum))}, ${uuidArray(asked.map(({ value }) => value))}::uuid[])
      with ordinality as v (${PAST_KEY}, value, position)
    join window_values w on ${isNamed('w')} and w.value = v.value
  `.execute(tx);
  const found = sums.map(() => new Map<string, number>());
  for (const { position, occurrences } of rows) {
    const { index, value } = present(asked[position - 1], 'a value that was asked for');
    found[index]?.set(value, occurrences);
  }
  return found;
}

/** Stores how often values have occurred, with up to two statements. */
export async function writeOccurrences(tx: Tx, changes: readonly ValueChange[]): Promise<void> {
  const all = changes.flatMap(({ sum, occurrences }) =>
    [...occurrences].map(([value, count]) => ({ sum, value, count })),
  );
  const kept = all.filter(({ count }) => count !== 0);
  const gone = all.filter(({ count }) => count === 0);
  const columns = (rows: typeof all) =>
    sql`${keyLists(rows.map(({ sum }) => sum))}, ${uuidArray(rows.map(({ value }) => value))}::uuid[]`;
  if (gone.length > 0) {
    await sql`
      delete from window_values w using unnest(${columns(gone)}) as v (${PAST_KEY}, value)
      where ${isNamed('w')} and w.value = v.value
    `.execute(tx);
  }
  if (kept.length > 0) {
    await sql`
      insert into window_values (${PAST_KEY}, value, occurrences)
      select * from unnest(${columns(kept)}, ${arrayLiteral(kept, ({ count }) => count)}::bigint[])
      on conflict (${PAST_KEY}, value) do update set occurrences = excluded.occurrences
    `.execute(tx);
  }
}

/** Drops the lowest quantities of windows that have more than `max`, and adds them to those that are not kept. */
export async function dropLowestValues(tx: Tx, changes: readonly ValueChange[], max: number): Promise<void> {
  if (changes.length === 0) return;
  const { rows } = await sql<{ position: number; missed: number; up_to: string }>`
    with v as (
      select * from unnest(
        ${keyLists(changes.map(({ sum }) => sum))}, ${arrayLiteral(changes, ({ set }) => set.kept - max)}::integer[]
      ) with ordinality as v (${PAST_KEY}, surplus, position)
    ), lowest as (
      select v.*, w.value from v cross join lateral (
        select w.value from window_values w where ${isNamed('w')} order by w.value limit v.surplus
      ) w
    ), dropped as (
      delete from window_values w using lowest v where ${isNamed('w')} and w.value = v.value
      returning v.position, w.value, w.occurrences
    )
    select position, greatest(sum(occurrences), 0)::bigint as missed, ${digits(sql`max(value::text)`)} as up_to
    from dropped group by position
  `.execute(tx);
  for (const { position, missed, up_to } of rows) {
    const { set } = present(changes[position - 1], 'a window with too many quantities');
    set.kept = max;
    set.missed += missed;
    set.missedUpTo = up_to;
  }
}

/** Stores how many values windows keep. */
export async function writeValueSets(tx: Tx, changes: readonly ValueChange[]): Promise<void> {
  const upTo = ({ set }: ValueChange) => set.missedUpTo ?? 'null';
  await sql`
    insert into window_value_sets (${PAST_KEY}, kept, missed, missed_up_to)
    select * from unnest(${keyLists(changes.map(({ sum }) => sum))},
      ${arrayLiteral(changes, ({ set }) => set.kept)}::integer[],
      ${arrayLiteral(changes, ({ set }) => set.missed)}::bigint[], ${arrayLiteral(changes, upTo)}::uuid[])
    on conflict (${PAST_KEY}) do update set kept = excluded.kept, missed = excluded.missed,
      missed_up_to = excluded.missed_up_to
  `.execute(tx);
}

/** Returns the greatest quantity in force that each of the windows keeps, as it is stored. */
export async function readGreatestValues(
  tx: Tx,
  changes: readonly ValueChange[],
): Promise<Map<WindowSum, string>> {
  if (changes.length === 0) return new Map();
  const sums = changes.map(({ sum }) => sum);
  const { rows } = await sql<{ greatest: string | null }>`
    select ${digits(greatestOf(sql`true`))} as greatest
    from unnest(${keyLists(sums)}) with ordinality as v (${PAST_KEY}, position) order by v.position
  `.execute(tx);
  return new Map(
    rows.flatMap(({ greatest }, index) =>
      greatest === null ? [] : [[present(sums[index], 'the window of a greatest quantity'), greatest]],
    ),
  );
}

/** The greatest quantity of the window `v` that is in force. */
const greatestOf = (isAsked: RawBuilder<unknown>) => sql`(
  select w.value from window_values w where ${isAsked} and ${isNamed('w')} and w.occurrences > 0
  order by w.value desc limit 1)`;

/** The hexadecimal digits of a stored value. */
const digits = (value: RawBuilder<unknown>) => sql<string>`replace(${value}::text, '-', '')`;

const isNamed = (table: 'w' | 's') => sql`(${sql.ref(`${table}.project_no`)} = v.project_no
  and ${sql.ref(`${table}.subject_type`)} = v.subject_type and ${sql.ref(`${table}.subject_id`)} = v.subject_id
  and ${sql.ref(`${table}.rule_no`)} = v.rule_no and ${sql.ref(`${table}.window_start`)} = v.window_start)`;

function keyLists(sums: readonly WindowSum[]): RawBuilder<unknown> {
  return pastKeyLists(sums.map(windowKeyOf));
}
