import { sql } from 'kysely';
import { noting } from '../../../platform/changes/index.js';
import type { Tx } from '../../../platform/postgres/index.js';
import { type Amount, amountText } from '../../ledger/index.js';
import { type LimitedSubject, subjectNumber } from '../rules/route-rules.js';

/** A rule of a subject that leases reserve of. */
export interface HeldRule {
  readonly subject: LimitedSubject;
  readonly ruleNo: number;
}

/** The amount that a lease holds of one rule. */
export interface HeldAmount extends HeldRule {
  readonly projectNo: number;
  readonly amount: Amount;
}

/**
 * Locks the reserved amounts of these rules until the transaction ends, in the order that all transactions use. From
 * here on nobody else reserves of them, so a later statement reads what the limits must be compared with.
 *
 * @param rules each once
 */
export async function lockReserved(tx: Tx, projectNo: number, rules: readonly HeldRule[]): Promise<void> {
  if (rules.length === 0) return;
  // An existing row is locked but not updated: no new version of it is written.
  await sql`
    insert into limit_reserved (project_no, subject_type, subject_id, rule_no, reserved)
    select ${projectNo}::int, k.subject_type, k.subject_id, k.rule_no, 0
    from unnest(
      ${rules.map(({ subject }) => subject.type)}::text[], ${rules.map(({ subject }) => subject.id)}::text[],
      ${rules.map(({ ruleNo }) => ruleNo)}::int[]
    ) as k (subject_type, subject_id, rule_no)
    order by k.subject_type collate "C", k.subject_id collate "C", k.rule_no
    on conflict (project_no, subject_type, subject_id, rule_no) do update set reserved = excluded.reserved where false
  `.execute(tx);
}

/**
 * Adds to reserved amounts; a negative amount is released. More than is reserved cannot be released. The caller has
 * locked the rules.
 */
export async function changeReserved(tx: Tx, changes: readonly HeldAmount[]): Promise<void> {
  if (changes.length === 0) return;
  await sql`
    ${noting(changes.map(subjectNumberOf))}
    ${sql.raw(CHANGE_RESERVED)} from ${sumsOf(changes)} g where ${sql.raw(IS_SAME_RULE)}
  `.execute(tx);
}

/**
 * Releases held amounts; more than is reserved cannot be released. Any number of leases may hold of the same rule.
 * Takes two statements: the first locks the rules in the order that all transactions use, because only a locked row can
 * be read in its latest state.
 */
export async function subtractReserved(tx: Tx, held: readonly HeldAmount[]): Promise<void> {
  if (held.length === 0) return;
  await sql`
    select from limit_reserved r join ${sumsOf(held)} g on ${sql.raw(IS_SAME_RULE)} order by ${sql.raw(RULE_LOCK_ORDER)} for update of r
  `.execute(tx);
  await changeReserved(tx, held.map(negated));
}

/** Returns the number of the subject of a change, under which the change is noted. */
export function subjectNumberOf({ projectNo, subject }: HeldAmount): number {
  return subjectNumber(projectNo, subject);
}

/** Returns the change that releases a held amount. */
export function negated(held: HeldAmount): HeldAmount {
  return { ...held, amount: -held.amount };
}

/** The only change of a row `r`, by the amount of the row `g` of its rule. Its statement notes the subject. */
export const CHANGE_RESERVED = 'update limit_reserved r set reserved = greatest(r.reserved + g.amount, 0)';
export const IS_SAME_RULE = `r.project_no = g.project_no and r.subject_type = g.subject_type
  and r.subject_id = g.subject_id and r.rule_no = g.rule_no`;
/** A collation of its own, so that the order does not depend on the database's language. */
export const RULE_LOCK_ORDER =
  'r.project_no, r.subject_type collate "C", r.subject_id collate "C", r.rule_no';

const sumsOf = (held: readonly HeldAmount[]) => sql`(
  select project_no, subject_type, subject_id, rule_no, sum(amount) as amount from unnest(
    ${held.map(({ projectNo }) => projectNo)}::int[], ${held.map(({ subject }) => subject.type)}::text[],
    ${held.map(({ subject }) => subject.id)}::text[], ${held.map(({ ruleNo }) => ruleNo)}::int[],
    ${held.map(({ amount }) => amountText(amount))}::numeric[]
  ) as h (project_no, subject_type, subject_id, rule_no, amount) group by 1, 2, 3, 4)`;
