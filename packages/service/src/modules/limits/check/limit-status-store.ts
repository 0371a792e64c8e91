import { CompiledQuery } from 'kysely';
import { sumOrNone } from '../../../kernel/present.js';
import type { Postgres, Tx } from '../../../platform/postgres/index.js';
import {
  type Amount,
  amountFromText,
  availableText,
  type WalletKey,
  walletKeyLists,
} from '../../ledger/index.js';
import { storedValue } from '../windows/counted-values.js';
import type { Counted, OpenRuleAtLevel } from './limit-status.js';

/** The windows to read for the rules of a subject, of all levels that are asked about, and a wallet. */
export interface UsageQuery {
  readonly projectId: string;
  readonly projectNo: number;
  readonly rules: readonly AskedRule[];
  /** Undefined to read none. */
  readonly wallet: WalletKey | undefined;
}

/** A window to read, and the value that may be new to it. */
export interface AskedRule extends OpenRuleAtLevel {
  /** The text of the dimension whose values the rule counts; undefined when none is asked for. */
  readonly value: string | undefined;
}

/** The answer to a query, as of one moment. */
export interface UsageRead {
  /** One entry for each rule, in their order. */
  readonly counted: readonly Counted[];
  /** How much of the wallet can be reserved; undefined if none was asked for, or it has no bound. */
  readonly available: Amount | undefined;
}

interface UsageRow {
  /** Position in the list of rules or, for a row with `available`, in the list of wallets; from 1 on. */
  readonly position: number;
  readonly available: string | null;
  readonly window_start: number | null;
  readonly window_end: number | null;
  readonly used: string | null;
  readonly limit_amount: string | null;
  readonly reserved: string | null;
  readonly reserved_version: string | null;
  readonly seen: boolean;
}

/** The parts of the statement that depend on how the windows of its rules are found. */
interface WindowParts {
  /** More columns of the asked rules: their values, and their names. */
  readonly values: string;
  readonly names: string;
  /** The start of the window; null for none. */
  readonly start: string;
  /** The columns of a window that usage has opened. */
  readonly opened: string;
  /** Joins that find it. */
  readonly joins: string;
  /** The usage of a window that is none of the stored ones. */
  readonly used: string;
}

/** The windows of the rule and the route: their start is known. */
const KNOWN: WindowParts = {
  values: '',
  names: '',
  start: 'k.window_start',
  opened: 'null::bigint as window_start, null::bigint as window_end',
  joins: '',
  used: 'case',
};

/**
 * Windows that usage determines, among others. Those that open with usage are found by an instant; they do not overlap,
 * so only the newest that begins before it can contain it. The usage of a sliding window is the sum of its steps. Those
 * that begin later are not read: there may be very many of them. The sum hides `counts_until` from the planner, which
 * could otherwise read the steps of all tenants by the index of that column.
 */
const BY_USAGE: WindowParts = {
  values: ', $11::bool[], $12::bool[]',
  names: ', is_first_use, slides',
  start: 'w.start',
  opened: `case when c.window_starts[i.at] = w.start or p.used is not null then w.start end as window_start,
    case when c.window_starts[i.at] = w.start then c.window_ends[i.at] else p.window_end end as window_end`,
  joins: `cross join lateral (select case
    when k.slides then null
    when not k.is_first_use then k.window_start
    when c.window_starts[i.at] <= k.window_start and c.window_ends[i.at] > k.window_start then c.window_starts[i.at]
    else (
      select case when f.window_end > k.window_start then f.window_start end
      from past_windows f
      where f.project_no = k.project_no and f.subject_type = k.subject_type and f.subject_id = k.subject_id
        and f.rule_no = k.rule_no and f.window_start <= k.window_start
      order by f.window_start desc limit 1
    ) end as start) as w`,
  used: `case when k.slides then (
      select sum(t.used) from sliding_steps t
      where t.project_no = k.project_no and t.subject_type = k.subject_type and t.subject_id = k.subject_id
        and t.rule_no = k.rule_no and t.step_start <= k.window_start
        and t.counts_from <= k.window_start and t.counts_until + 0 > k.window_start
    )`,
};

/** The first parameter of the wallets. */
const FIRST_OF_WALLETS = 7;

/**
 * A few index look-ups for each rule: its window is the current one of its subject, a past one, or does not exist yet.
 * One more for each wallet: a statement costs more than what it finds.
 */
const usageText = ({ values, names, start, opened, joins, used }: WindowParts) => `
  select k.position, null::numeric as available, r.reserved, r.xmin as reserved_version, s.occurrences > 0 is true as seen,
    ${opened},
    ${used} when c.window_starts[i.at] = ${start} then c.used[i.at] else p.used end as used,
    case when c.window_starts[i.at] = ${start} then c.limit_amounts[i.at] else p.limit_amount end as limit_amount
  from unnest($1::int[], $2::text[], $3::text[], $4::int[], $5::bigint[], $6::uuid[]${values})
    with ordinality as k (project_no, subject_type, subject_id, rule_no, window_start, value${names}, position)
  left join current_windows c on c.project_no = k.project_no and c.subject_type = k.subject_type
    and c.subject_id = k.subject_id
  cross join lateral (select array_position(c.rule_nos, k.rule_no) as at) as i
  ${joins}
  left join past_windows p on p.project_no = k.project_no and p.subject_type = k.subject_type
    and p.subject_id = k.subject_id and p.rule_no = k.rule_no and p.window_start = ${start}
  left join limit_reserved r on r.project_no = k.project_no and r.subject_type = k.subject_type
    and r.subject_id = k.subject_id and r.rule_no = k.rule_no
  left join window_values s on s.project_no = k.project_no and s.subject_type = k.subject_type
    and s.subject_id = k.subject_id and s.rule_no = k.rule_no and s.window_start = ${start} and s.value = k.value
  union all
  select a.position, a.available, null, null::xid, false, null, null, null, null from (${availableText(FIRST_OF_WALLETS)}) as a`;

/**
 * The prepared statements: planning one takes longer than running it, so each connection plans it once. Requests
 * without windows that usage determines use the first, which costs less.
 */
const USAGE = { name: 'limits-usage', text: usageText(KNOWN) };
const USAGE_BY_USAGE = { name: 'limits-usage-by-usage', text: usageText(BY_USAGE) };

/**
 * Reads the use of these windows, what leases hold of their rules, and what wallets have left, all at one moment: an
 * amount that moves from reserved to used is never seen twice or not at all. Returns one entry for each query, in their
 * order.
 */
export async function readUsage(
  { pool }: Pick<Postgres, 'pool'>,
  queries: readonly UsageQuery[],
): Promise<UsageRead[]> {
  const { rows } = await pool.query<UsageRow>(usageQuery(queries));
  return byQuery(queries, rows);
}

/** The same inside a transaction, at the moment of this statement. */
export async function readUsageIn(tx: Tx, queries: readonly UsageQuery[]): Promise<UsageRead[]> {
  const isEmpty = queries.every(({ rules, wallet }) => rules.length === 0 && wallet === undefined);
  if (isEmpty) return queries.map(() => ({ counted: [], available: undefined }));
  const { text, values } = usageQuery(queries);
  const { rows } = await tx.executeQuery<UsageRow>(CompiledQuery.raw(text, values));
  return byQuery(queries, rows);
}

function usageQuery(queries: readonly UsageQuery[]) {
  const asked = queries.flatMap((query) => query.rules.map((rule) => [query, rule] as const));
  const column = <Value>(value: (query: UsageQuery, rule: AskedRule) => Value): Value[] =>
    asked.map(([query, rule]) => value(query, rule));
  const values: unknown[] = [
    column(({ projectNo }) => projectNo),
    column((_, { at }) => at.subject.type),
    column((_, { at }) => at.subject.id),
    column((_, { rule }) => rule.ruleNo),
    column((_, { window }) => window.startS),
    column((_, { value }) => (value === undefined ? null : storedValue(value))),
    ...walletKeyLists(queries.flatMap(({ wallet }) => wallet ?? [])),
  ];
  const isFirstUse = column((_, { rule }) => rule.period.kind === 'first_use');
  const slides = column((_, { rule }) => rule.period.kind === 'sliding');
  if (!isFirstUse.includes(true) && !slides.includes(true)) return { ...USAGE, values };
  return { ...USAGE_BY_USAGE, values: [...values, isFirstUse, slides] };
}

function byQuery(queries: readonly UsageQuery[], rows: readonly UsageRow[]): UsageRead[] {
  const counted: Counted[] = [];
  const available: Amount[] = [];
  for (const row of rows) {
    if (row.available === null) counted[row.position - 1] = toCounted(row);
    else available[row.position - 1] = amountFromText(row.available);
  }
  let rulesRead = 0;
  let walletsRead = 0;
  return queries.map(({ rules, wallet }) => {
    const from = rulesRead;
    rulesRead += rules.length;
    return {
      counted: counted.slice(from, rulesRead),
      available: wallet === undefined ? undefined : available[walletsRead++],
    };
  });
}

function toCounted(row: UsageRow): Counted {
  const { window_start, window_end, used, limit_amount: limit, reserved, seen } = row;
  return {
    opened: window_start === null ? undefined : { startS: window_start, endS: window_end ?? undefined },
    isSeen: seen,
    reservedVersion: row.reserved_version ?? undefined,
    used: sumOrNone(amountIn(used)),
    limit: amountIn(limit),
    reserved: sumOrNone(amountIn(reserved)),
  };
}

function amountIn(text: string | null): Amount | undefined {
  return text === null ? undefined : amountFromText(text);
}
