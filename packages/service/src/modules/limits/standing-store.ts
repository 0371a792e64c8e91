import { CompiledQuery } from 'kysely';
import type { Postgres, Tx } from '../../platform/postgres/index.js';
import { amountFromText } from '../ledger/index.js';
import type { Counted, OpenRule, Subject } from './standing.js';

interface CountedRow {
  readonly rule_no: number;
  readonly used: string | null;
  readonly limit_amount: string | null;
  readonly reserved: string | null;
}

/** Two look-ups in an index for each rule. */
const COUNTED = `
  select k.rule_no, w.used, w.limit_amount, r.reserved
  from unnest($4::int[], $5::bigint[]) as k (rule_no, window_start)
  left join limit_windows w on w.project_no = $1 and w.subject_type = $2 and w.subject_id = $3
    and w.rule_no = k.rule_no and w.window_start = k.window_start
  left join limit_reserved r on r.project_no = $1 and r.subject_type = $2 and r.subject_id = $3
    and r.rule_no = k.rule_no`;

/** Planning it takes longer than running it: a connection that knows it by this name plans it once. */
const COUNTED_NAME = 'limits-counted';

/**
 * What a subject has used of these windows, and what its leases hold: by `ruleNo`, and of one moment, so that nothing which moves
 * from reserved to used is seen twice or not at all.
 */
export async function readCounted(
  { pool }: Pick<Postgres, 'pool'>,
  projectNo: number,
  subject: Subject,
  rules: readonly OpenRule[],
): Promise<Map<number, Counted>> {
  if (rules.length === 0) return new Map();
  const values = countedValues(projectNo, subject, rules);
  const { rows } = await pool.query<CountedRow>({ name: COUNTED_NAME, text: COUNTED, values });
  return byRule(rows);
}

/** The same inside a transaction, of the moment of this statement. */
export async function readCountedIn(
  tx: Tx,
  projectNo: number,
  subject: Subject,
  rules: readonly OpenRule[],
): Promise<Map<number, Counted>> {
  if (rules.length === 0) return new Map();
  const values = countedValues(projectNo, subject, rules);
  const { rows } = await tx.executeQuery<CountedRow>(CompiledQuery.raw(COUNTED, values));
  return byRule(rows);
}

function countedValues(projectNo: number, subject: Subject, rules: readonly OpenRule[]): unknown[] {
  const ruleNos = rules.map(({ rule }) => rule.ruleNo);
  const starts = rules.map(({ window }) => window.startS);
  return [projectNo, subject.type, subject.id, ruleNos, starts];
}

function byRule(rows: readonly CountedRow[]): Map<number, Counted> {
  return new Map(rows.map((row) => [row.rule_no, toCounted(row)]));
}

function toCounted({ used, limit_amount: limit, reserved }: CountedRow): Counted {
  return {
    used: used === null ? 0n : amountFromText(used),
    limit: limit === null ? undefined : amountFromText(limit),
    reserved: reserved === null ? 0n : amountFromText(reserved),
  };
}
