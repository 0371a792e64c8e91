import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { memoized } from '../../kernel/maps.js';
import type { WindowSettings } from '../../kernel/period.js';
import { present } from '../../kernel/present.js';
import type { ProjectScope } from '../../kernel/scope.js';
import {
  bigintArray,
  byteaArray,
  columnsOf,
  integerArray,
  lockKey,
  type Tx,
} from '../../platform/postgres/index.js';
import { amountFromText, numericText } from '../ledger/index.js';
import { type Counter, KEY_BYTES } from './counter.js';
import { CounterPeriod } from './counter-period.js';

/** Prefix of the advisory locks, one for each slot, under which counters are read and written. */
const COUNTER_LOCK = 'tollgate-counters';

/**
 * Waits until no other transaction counts for these slots, and keeps others out until `tx` ends.
 *
 * @param slots of projects, in ascending order, and above all slots that `tx` has locked before: so transactions cannot
 * deadlock
 */
export async function lockCounters(tx: Tx, slots: readonly number[]): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(${lockKey(sql`${COUNTER_LOCK} || '-' || slot`)})
    from unnest(${[...slots]}::integer[]) as locked (slot)
  `.execute(tx);
}

/** A counter, and the time for which its periods are asked for. */
export interface CounterSpan {
  readonly counter: Counter;
  readonly key: Buffer;
  /** Unix seconds. */
  readonly startS: number;
  /** Exclusive; undefined for a lifetime. */
  readonly endS: number | undefined;
}

interface CounterRow {
  readonly position: number;
  readonly startS: number;
  readonly endS: number | null;
  readonly quantity: string;
  readonly amount: string;
  readonly itemCount: number;
  readonly valueCount: number;
  readonly ruleSetVersion: number;
  readonly ruleName: string;
}

/** Returns the stored periods that have a time in common with one of the spans, in their order. */
export async function readPeriods(tx: Tx, spans: readonly CounterSpan[]): Promise<CounterPeriod[]> {
  if (spans.length === 0) return [];
  const { rows } = await sql<CounterRow>`
    select v.position::integer, c.period_start as "startS", c.period_end as "endS", c.quantity::text, c.amount::text,
      c.item_count as "itemCount", c.value_count as "valueCount", c.rule_set_version as "ruleSetVersion",
      c.rule_name as "ruleName"
    from unnest(${spans.map(({ counter }) => counter.scope.projectId)}::text[], ${spans.map(({ key }) => key)}::bytea[],
      ${spans.map(({ startS }) => startS)}::bigint[], ${spans.map(({ endS }) => endS ?? null)}::bigint[]
    ) with ordinality as v (project_id, key, start_s, end_s, position)
    join usage_counters c on c.project_id = v.project_id and c.key = v.key
      and (v.end_s is null or c.period_start < v.end_s) and (c.period_end is null or c.period_end > v.start_s)
    order by v.position, c.period_start
  `.execute(tx);
  return rows.flatMap(({ position, startS, endS, valueCount, ...row }) => {
    const span = spans[position - 1];
    if (span === undefined) return [];
    const state = { ...row, quantity: amountFromText(row.quantity), amount: amountFromText(row.amount) };
    return new CounterPeriod(span.counter, span.key, startS, endS ?? undefined, state, valueCount);
  });
}

/**
 * Writes changed periods, and their changed values. The slots of their projects must be locked.
 *
 * @returns the id of the state in which the projects of these periods are then
 */
export async function writeCounters(tx: Tx, periods: readonly CounterPeriod[]): Promise<string> {
  const stateId = randomUUID();
  if (periods.length === 0) return stateId;
  await writeStates(tx, periods, stateId);
  await writePeriods(tx, periods);
  const values = periods.flatMap((period) =>
    Array.from(period.changedValues, (value) => ({
      period,
      value,
      itemCount: period.values.get(value) ?? 0,
    })),
  );
  await writeValues(tx, values);
  for (const period of periods) period.written();
  return stateId;
}

/** Returns the ids of the states of projects whose counters were ever written. The slots must be locked. */
export async function readStates(
  tx: Tx,
  scopes: readonly ProjectScope[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ readonly projectId: string; readonly stateId: string }>`
    select project_id as "projectId", state_id as "stateId" from usage_counter_states
    where project_id = any(${scopes.map(({ projectId }) => projectId)}::text[])
  `.execute(tx);
  return new Map(rows.map(({ projectId, stateId }) => [projectId, stateId]));
}

async function writeStates(tx: Tx, periods: readonly CounterPeriod[], stateId: string): Promise<void> {
  const tenants = new Map(periods.map(({ counter: { scope } }) => [scope.projectId, scope.tenantId]));
  await sql`
    insert into usage_counter_states (tenant_id, project_id, state_id)
    select v.*, ${stateId}::uuid from unnest(${[...tenants.values()]}::text[], ${[...tenants.keys()]}::text[]) as v
    on conflict (project_id) do update set state_id = excluded.state_id
  `.execute(tx);
}

async function writePeriods(tx: Tx, periods: readonly CounterPeriod[]): Promise<void> {
  await insertPeriods(
    tx,
    periods.filter(({ isStored }) => !isStored),
  );
  await updatePeriods(
    tx,
    periods.filter(({ isStored }) => isStored),
  );
}

async function insertPeriods(tx: Tx, periods: readonly CounterPeriod[]): Promise<void> {
  if (periods.length === 0) return;
  const column = <T>(value: (period: CounterPeriod) => T) => periods.map(value);
  const counters = column(({ counter }) => counter);
  await sql`
    insert into usage_counters (tenant_id, project_id, key, period_start, period_end, rule_set_id, counter, subject_type,
      subject_id, account_id, by_dimensions, currency, quantity, amount, item_count, value_count, rule_set_version, rule_name)
    select * from unnest(
      ${counters.map(({ scope }) => scope.tenantId)}::text[], ${counters.map(({ scope }) => scope.projectId)}::text[],
      ${column(({ key }) => key)}::bytea[], ${column(({ startS }) => startS)}::bigint[],
      ${column(({ endS }) => endS ?? null)}::bigint[], ${counters.map(({ ruleSetId }) => ruleSetId)}::text[],
      ${counters.map(({ definition }) => definition.name)}::text[], ${counters.map(({ subjectType }) => subjectType)}::text[],
      ${counters.map(({ subjectId }) => subjectId)}::text[], ${counters.map(({ accountId }) => accountId)}::text[],
      ${counters.map(byText)}::jsonb[], ${counters.map(({ definition }) => definition.currency)}::text[], ${contentOf(periods)})
  `.execute(tx);
}

/**
 * Projects and names of rules, which repeat, are sent once each and everything else but decimals as binary arrays: the
 * server parses text arrays of thousands of counters in half the time that it takes to write the counters.
 */
async function updatePeriods(tx: Tx, periods: readonly CounterPeriod[]): Promise<void> {
  if (periods.length === 0) return;
  const column = <T>(value: (period: CounterPeriod) => T) => periods.map(value);
  const { amounts } = columnsOf(periods);
  const projects = numbered(periods.map(({ counter }) => counter.scope.projectId));
  const names = numbered(periods.map(({ ruleName }) => ruleName));
  await sql`
    update usage_counters c set quantity = v.quantity, amount = v.amount, item_count = v.item_count,
      value_count = v.value_count, rule_set_version = v.rule_set_version, rule_name = (${names.texts}::text[])[v.name]
    from unnest(${integerArray(projects.numbers)}::integer[], ${byteaArray(
      column(({ key }) => key),
      KEY_BYTES,
    )}::bytea[],
      ${bigintArray(column(({ startS }) => startS))}::bigint[], ${amounts(({ quantity }) => quantity)}::numeric[],
      ${amounts(({ amount }) => amount)}::numeric[], ${bigintArray(column(({ itemCount }) => itemCount))}::bigint[],
      ${integerArray(column(({ valueCount }) => valueCount))}::integer[],
      ${integerArray(column(({ ruleSetVersion }) => ruleSetVersion))}::integer[], ${integerArray(names.numbers)}::integer[]
    ) as v (project, key, period_start, quantity, amount, item_count, value_count, rule_set_version, name)
    where c.project_id = (${projects.texts}::text[])[v.project] and c.key = v.key and c.period_start = v.period_start
  `.execute(tx);
}

/** Returns the distinct texts of a list, and the number of each of its texts among them, from 1 on. */
function numbered(texts: readonly string[]): { readonly texts: string[]; readonly numbers: number[] } {
  const known = new Map<string, number>();
  const numbers = texts.map((text) => memoized(known, text, () => known.size + 1));
  return { texts: [...known.keys()], numbers };
}

/** The columns that charge items change, as parameters of `unnest`. */
function contentOf(periods: readonly CounterPeriod[]) {
  const states = periods.map(({ state }) => state);
  return sql`${states.map(({ quantity }) => numericText(quantity))}::numeric[],
    ${states.map(({ amount }) => numericText(amount))}::numeric[], ${states.map(({ itemCount }) => itemCount)}::bigint[],
    ${periods.map(({ valueCount }) => valueCount)}::integer[], ${states.map(({ ruleSetVersion }) => ruleSetVersion)}::integer[],
    ${states.map(({ ruleName }) => ruleName)}::text[]`;
}

function byText({ definition, by }: Counter): string {
  return JSON.stringify(Object.fromEntries(definition.by.map((name, index) => [name, by[index] ?? null])));
}

/** A value of a period. */
export interface PeriodValue {
  readonly period: CounterPeriod;
  readonly value: string;
}

/** Reads how many charge items had each of these values into their periods. */
export async function readValues(tx: Tx, asked: readonly PeriodValue[]): Promise<void> {
  if (asked.length === 0) return;
  const { rows } = await sql<{ readonly position: number; readonly itemCount: number }>`
    select v.position::integer, c.item_count as "itemCount"
    from unnest(${keysOf(asked)}) with ordinality as v (project_id, key, period_start, value, position)
    join usage_counter_values c on c.project_id = v.project_id and c.key = v.key and c.period_start = v.period_start
      and c.value = v.value
  `.execute(tx);
  for (const { position, itemCount } of rows) {
    const { period, value } = present(asked[position - 1], 'the value of a row');
    period.values.set(value, itemCount);
  }
}

/**
 * Reads the greatest values of a period of a maximum.
 *
 * @param max the number of them
 */
export async function readGreatest(tx: Tx, period: CounterPeriod, max: number): Promise<void> {
  const { counter, key, startS, values } = period;
  const { rows } = await sql<{ readonly value: string; readonly itemCount: number }>`
    select c.value, c.item_count as "itemCount" from usage_counter_values c
    where c.project_id = ${counter.scope.projectId} and c.key = ${key} and c.period_start = ${startS}
    order by c.value::numeric desc limit ${max}
  `.execute(tx);
  for (const { value, itemCount } of rows) values.set(value, itemCount);
}

/** Writes how many charge items had each of these values; a value of 0 charge items is deleted. */
async function writeValues(
  tx: Tx,
  values: readonly (PeriodValue & { readonly itemCount: number })[],
): Promise<void> {
  const kept = values.filter(({ itemCount }) => itemCount > 0);
  const gone = values.filter(({ itemCount }) => itemCount === 0);
  if (gone.length > 0) {
    await sql`
      delete from usage_counter_values c using unnest(${keysOf(gone)}) as v (project_id, key, period_start, value)
      where c.project_id = v.project_id and c.key = v.key and c.period_start = v.period_start and c.value = v.value
    `.execute(tx);
  }
  if (kept.length === 0) return;
  await sql`
    insert into usage_counter_values (tenant_id, project_id, key, period_start, value, item_count)
    select t.tenant_id, v.* from unnest(${keysOf(kept)}, ${kept.map(({ itemCount }) => itemCount)}::bigint[])
      as v (project_id, key, period_start, value, item_count)
    join unnest(${tenantsOf(kept).map(([projectId]) => projectId)}::text[], ${tenantsOf(kept).map(([, tenantId]) => tenantId)}::text[])
      as t (project_id, tenant_id) on t.project_id = v.project_id
    on conflict (project_id, key, period_start, value) do update set item_count = excluded.item_count
  `.execute(tx);
}

function keysOf(values: readonly PeriodValue[]) {
  return sql`${values.map(({ period }) => period.counter.scope.projectId)}::text[], ${values.map(({ period }) => period.key)}::bytea[],
    ${values.map(({ period }) => period.startS)}::bigint[], ${values.map(({ value }) => value)}::text[]`;
}

function tenantsOf(values: readonly PeriodValue[]): [string, string][] {
  return [
    ...new Map(values.map(({ period: { counter } }) => [counter.scope.projectId, counter.scope.tenantId])),
  ];
}

/** An account of a project. */
export interface AccountRef {
  readonly scope: ProjectScope;
  readonly accountId: string;
}

/** Returns the settings of accounts that decide the periods of their counters, by account id. */
export async function readAccountSettings(
  tx: Tx,
  accounts: readonly AccountRef[],
): Promise<ReadonlyMap<string, WindowSettings>> {
  if (accounts.length === 0) return new Map();
  const { rows } = await sql<{ readonly id: string; readonly timezone: string; readonly anchorS: number }>`
    select a.id, a.timezone, coalesce(a.anchor, a.created_at) as "anchorS"
    from unnest(${accounts.map(({ scope }) => scope.tenantId)}::text[], ${accounts.map(({ scope }) => scope.projectId)}::text[],
      ${accounts.map(({ accountId }) => accountId)}::text[]) as v (tenant_id, project_id, id)
    join accounts a on a.tenant_id = v.tenant_id and a.project_id = v.project_id and a.id = v.id
  `.execute(tx);
  return new Map(rows.map(({ id, ...settings }) => [id, { ...settings, weekStart: 'monday' as const }]));
}
