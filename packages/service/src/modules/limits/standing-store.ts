import { type Kysely, sql } from 'kysely';
import type { Database, Tx } from '../../platform/postgres/index.js';
import { amountFromText } from '../ledger/index.js';
import type { Counted, OpenRule, Subject } from './standing.js';

interface CountedRow {
  readonly rule_no: number;
  readonly used: string | null;
  readonly limit_amount: string | null;
  readonly reserved: string | null;
}

/**
 * What a subject has used of these windows, and what its leases hold: by `ruleNo`, and of one moment, so that nothing which moves
 * from reserved to used is seen twice or not at all. Two look-ups in an index for each rule.
 */
export async function readCounted(
  db: Kysely<Database> | Tx,
  projectNo: number,
  subject: Subject,
  rules: readonly OpenRule[],
): Promise<Map<number, Counted>> {
  if (rules.length === 0) return new Map();
  const { rows } = await sql<CountedRow>`
    select k.rule_no, w.used, w.limit_amount, r.reserved
    from unnest(${rules.map(({ rule }) => rule.ruleNo)}::int[], ${rules.map(({ window }) => window.startS)}::bigint[])
      as k (rule_no, window_start)
    left join limit_windows w on w.project_no = ${projectNo} and w.subject_type = ${subject.type}
      and w.subject_id = ${subject.id} and w.rule_no = k.rule_no and w.window_start = k.window_start
    left join limit_reserved r on r.project_no = ${projectNo} and r.subject_type = ${subject.type}
      and r.subject_id = ${subject.id} and r.rule_no = k.rule_no
  `.execute(db);
  return new Map(rows.map((row) => [row.rule_no, toCounted(row)]));
}

function toCounted({ used, limit_amount: limit, reserved }: CountedRow): Counted {
  return {
    used: used === null ? 0n : amountFromText(used),
    limit: limit === null ? undefined : amountFromText(limit),
    reserved: reserved === null ? 0n : amountFromText(reserved),
  };
}
