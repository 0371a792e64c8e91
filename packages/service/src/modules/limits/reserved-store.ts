import { sql } from 'kysely';
import type { Tx } from '../../platform/postgres/index.js';
import { type Amount, amountText } from '../ledger/index.js';
import type { Subject } from './standing.js';

/** What a lease holds of one rule. */
export interface Held {
  readonly projectNo: number;
  readonly subject: Subject;
  readonly ruleNo: number;
  readonly amount: Amount;
}

/**
 * Adds to what is reserved of these rules of one subject, and locks them until the transaction ends. From here on nobody else reserves of them: what
 * a later statement reads is what the limits have to be judged by. If they have no room, the transaction must not commit.
 */
export async function addReserved(tx: Tx, held: readonly Held[]): Promise<void> {
  if (held.length === 0) return;
  await sql`
    insert into limit_reserved (project_no, subject_type, subject_id, rule_no, reserved)
    select * from ${heldTable(held)} order by rule_no
    on conflict (project_no, subject_type, subject_id, rule_no)
    do update set reserved = limit_reserved.reserved + excluded.reserved
  `.execute(tx);
}

/**
 * Gives back what is held: never more than is reserved. Any number of leases may hold of the same rule. Locks the rules in the order
 * of all, which is why it takes two statements: only a row that is locked is read as it is then.
 */
export async function subtractReserved(tx: Tx, held: readonly Held[]): Promise<void> {
  if (held.length === 0) return;
  const given = sql`(select project_no, subject_type, subject_id, rule_no, sum(amount) as amount
    from ${heldTable(held)} group by 1, 2, 3, 4)`;
  await sql`
    select from limit_reserved r join ${given} g on ${IS_SAME_RULE} order by ${LOCK_ORDER} for update of r
  `.execute(tx);
  await sql`
    update limit_reserved r set reserved = greatest(r.reserved - g.amount, 0) from ${given} g where ${IS_SAME_RULE}
  `.execute(tx);
}

const IS_SAME_RULE = sql`r.project_no = g.project_no and r.subject_type = g.subject_type
  and r.subject_id = g.subject_id and r.rule_no = g.rule_no`;
/** The same for everybody, whatever language the database sorts in. */
const LOCK_ORDER = sql`r.project_no, r.subject_type collate "C", r.subject_id collate "C", r.rule_no`;

const heldTable = (held: readonly Held[]) => sql`
  unnest(${held.map(({ projectNo }) => projectNo)}::int[], ${held.map(({ subject }) => subject.type)}::text[],
    ${held.map(({ subject }) => subject.id)}::text[], ${held.map(({ ruleNo }) => ruleNo)}::int[],
    ${held.map(({ amount }) => amountText(amount))}::numeric[]
  ) as h (project_no, subject_type, subject_id, rule_no, amount)`;
