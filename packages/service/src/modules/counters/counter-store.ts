import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
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
  uuidArray,
} from '../../platform/postgres/index.js';
import { amountFromText } from '../ledger/index.js';
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
  readonly totalsId: string;
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
    select v.position::integer, c.period_start as "startS", c.period_end as "endS", replace(t.id::text, '-', '') as "totalsId",
      t.quantity::text, t.amount::text, t.item_count as "itemCount", c.value_count as "valueCount",
      c.rule_set_version as "ruleSetVersion", c.rule_name as "ruleName"
    from unnest(${spans.map(({ counter }) => counter.scope.projectId)}::text[], ${integerArray(spans.map(({ counter }) => counter.scope.projectNo))}::integer[],
      ${spans.map(({ key }) => key)}::bytea[], ${spans.map(({ startS }) => startS)}::bigint[],
      ${spans.map(({ endS }) => endS ?? null)}::bigint[]
    ) with ordinality as v (project_id, project_no, key, start_s, end_s, position)
    join usage_counters c on c.project_id = v.project_id and c.key = v.key
      and (v.end_s is null or c.period_start < v.end_s) and (c.period_end is null or c.period_end > v.start_s)
    join usage_counter_totals t on t.project_no = v.project_no and t.id = c.totals_id
    order by v.position, c.period_start
  `.execute(tx);
  return rows.flatMap(({ position, startS, endS, valueCount, totalsId, ...row }) => {
    const span = spans[position - 1];
    if (span === undefined) return [];
    const state = { ...row, quantity: amountFromText(row.quantity), amount: amountFromText(row.amount) };
    return new CounterPeriod(span.counter, span.key, startS, endS ?? undefined, state, valueCount, totalsId);
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
  const stored = periods.filter(({ isStored }) => isStored);
  await insertPeriods(
    tx,
    periods.filter(({ isStored }) => !isStored),
  );
  await updateTotals(tx, stored);
  await updateDescriptions(
    tx,
    stored.filter(({ isDescribedAnew }) => isDescribedAnew),
  );
}

async function insertPeriods(tx: Tx, periods: readonly CounterPeriod[]): Promise<void> {
  if (periods.length === 0) return;
  for (const period of periods) period.totalsId = randomUUID().replaceAll('-', '');
  const column = <T>(value: (period: CounterPeriod) => T) => periods.map(value);
  const counters = column(({ counter }) => counter);
  await sql`
    with inserted (tenant_id, project_id, key, period_start, period_end, rule_set_id, counter, subject_type, subject_id,
      account_id, by_dimensions, currency, value_count, rule_set_version, rule_name, ${TOTALS}) as (
      select * from unnest(
        ${counters.map(({ scope }) => scope.tenantId)}::text[], ${counters.map(({ scope }) => scope.projectId)}::text[],
        ${column(({ key }) => key)}::bytea[], ${column(({ startS }) => startS)}::bigint[],
        ${column(({ endS }) => endS ?? null)}::bigint[], ${counters.map(({ ruleSetId }) => ruleSetId)}::text[],
        ${counters.map(({ definition }) => definition.name)}::text[], ${counters.map(({ subjectType }) => subjectType)}::text[],
        ${counters.map(({ subjectId }) => subjectId)}::text[], ${counters.map(({ accountId }) => accountId)}::text[],
        ${counters.map(byText)}::jsonb[], ${counters.map(({ definition }) => definition.currency)}::text[],
        ${column(({ valueCount }) => valueCount)}::integer[], ${column(({ ruleSetVersion }) => ruleSetVersion)}::integer[],
        ${column(({ ruleName }) => ruleName)}::text[], ${totalsOf(periods)})
    ), with_totals as (
      insert into usage_counter_totals (${TOTALS}) select ${TOTALS} from inserted
    )
    insert into usage_counters (tenant_id, project_id, key, period_start, period_end, rule_set_id, counter, subject_type,
      subject_id, account_id, by_dimensions, currency, value_count, rule_set_version, rule_name, totals_id)
    select tenant_id, project_id, key, period_start, period_end, rule_set_id, counter, subject_type, subject_id, account_id,
      by_dimensions, currency, value_count, rule_set_version, rule_name, id from inserted
  `.execute(tx);
}

const TOTALS = sql`project_no, id, item_count, quantity, amount`;

/** The same columns as parameters of `unnest`: binary arrays, because the server takes long to parse text. */
function totalsOf(periods: readonly CounterPeriod[]) {
  const { amounts } = columnsOf(periods);
  const ids = periods.map(({ totalsId }) => present(totalsId, 'the totals of a stored period'));
  return sql`${integerArray(periods.map(({ counter }) => counter.scope.projectNo))}::integer[], ${uuidArray(ids)}::uuid[],
    ${bigintArray(periods.map(({ itemCount }) => itemCount))}::bigint[], ${amounts(({ quantity }) => quantity)}::numeric[],
    ${amounts(({ amount }) => amount)}::numeric[]`;
}

async function updateTotals(tx: Tx, periods: readonly CounterPeriod[]): Promise<void> {
  if (periods.length === 0) return;
  const { numAffectedRows } = await sql`
    update usage_counter_totals t set item_count = v.item_count, quantity = v.quantity, amount = v.amount
    from unnest(${totalsOf(periods)}) as v (${TOTALS}) where t.project_no = v.project_no and t.id = v.id
  `.execute(tx);
  if (numAffectedRows !== BigInt(periods.length))
    throw new Error(`${periods.length} counters were changed, and ${numAffectedRows} have totals`);
}

/** Writes what charge items change seldom: the number of values, and the rule, until there is a newer version. */
async function updateDescriptions(tx: Tx, periods: readonly CounterPeriod[]): Promise<void> {
  if (periods.length === 0) return;
  const column = <T>(value: (period: CounterPeriod) => T) => periods.map(value);
  await sql`
    update usage_counters c
    set value_count = v.value_count, rule_set_version = v.rule_set_version, rule_name = v.rule_name
    from unnest(${column(({ counter }) => counter.scope.projectId)}::text[], ${byteaArray(
      column(({ key }) => key),
      KEY_BYTES,
    )}::bytea[],
      ${bigintArray(column(({ startS }) => startS))}::bigint[], ${integerArray(column(({ valueCount }) => valueCount))}::integer[],
      ${integerArray(column(({ ruleSetVersion }) => ruleSetVersion))}::integer[], ${column(({ ruleName }) => ruleName)}::text[]
    ) as v (project_id, key, period_start, value_count, rule_set_version, rule_name)
    where c.project_id = v.project_id and c.key = v.key and c.period_start = v.period_start
  `.execute(tx);
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
