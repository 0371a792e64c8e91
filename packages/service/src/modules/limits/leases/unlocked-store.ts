import type { ProjectRef } from '../../../kernel/scope.js';
import { noteText } from '../../../platform/changes/index.js';
import type { Postgres } from '../../../platform/postgres/index.js';
import { amountText, isAnyPrepaidText, type WalletKey } from '../../ledger/index.js';
import type { Lease } from './lease.js';
import { toLeaseRow } from './lease-row.js';
import {
  CHANGE_RESERVED,
  type HeldAmount,
  IS_SAME_RULE,
  RULE_LOCK_ORDER,
  subjectNumberOf,
} from './reserved-store.js';
import { type FoundLease, insertText, newLeaseValues } from './store.js';

/** A change of what a rule holds, which may be 0. */
export interface RuleChange extends HeldAmount {
  /** The version by which the change was decided; undefined for one that does not depend on it. */
  readonly version: string | undefined;
}

/** A lease that was found, and how it is changed. */
export interface LeaseChange {
  readonly found: FoundLease;
  readonly lease: Lease;
}

/** The changes of a group. They are in force together or not at all. */
export interface GroupChanges {
  readonly rules: readonly RuleChange[];
  readonly changed: readonly LeaseChange[];
  readonly added: readonly Lease[];
  /** The wallets of the new leases, none of which holds anything: a prepaid one must. */
  readonly wallets: readonly WalletKey[];
}

/**
 * Locks leases, then rules, in the order that all transactions use; a row whose version is another one is left out.
 * Unless all are there, nothing is written. A lock waits for others that have the row, and then sees their change, so
 * nothing can be changed between the look at a version and the commit of this statement. `limit` makes each row one
 * look-up in the index, one after the other: a plan that is kept must not depend on the sizes of tables.
 */
const WRITE = {
  name: 'leases-unlocked',
  text: `
  with k as materialized (
    select $1::int as project_no, k.* from unnest($3::text[], $4::text[], $5::int[], $6::numeric[], $7::xid[])
      as k (subject_type, subject_id, rule_no, amount, version)
  ), e as materialized (
    select * from unnest($8::text[], $9::xid[], $10::numeric[], $11::numeric[], $12::text[], $13::text[],
      $14::bigint[], $15::bigint[]) as e (id, version, used, held, holds, status, expires_at, closed_at)
  ), leases as materialized (
    select l.* from (select id, version from e order by id) as e
    cross join lateral (
      select l.id, l.ctid as place from budget_leases l
      where l.project_id = $2 and l.id = e.id and l.xmin = e.version limit 1 for update
    ) as l
  ), rules as materialized (
    select g.* from (select * from k as r order by ${RULE_LOCK_ORDER}) as g
    cross join lateral (
      select from limit_reserved r
      where ${IS_SAME_RULE} and (g.version is null or r.xmin = g.version) limit 1 for update
    ) as r
    where (select count(*) from leases) = (select count(*) from e)
  ), unchanged as materialized (
    select (select count(*) from leases) = (select count(*) from e)
      and (select count(version) from rules) = (select count(version) from k)
      and not ${isAnyPrepaidText(['$2', '$16', '$17'])} as yes
  ), noted as (
    ${noteText('$18', 'from unchanged u where u.yes and cardinality($18::integer[]) > 0')}
  ), reserved as (
    ${CHANGE_RESERVED} from rules g, unchanged u where u.yes and g.amount <> 0 and ${IS_SAME_RULE}
  ), changed as (
    update budget_leases l set used = e.used, held = e.held, holds = e.holds::json, status = e.status,
      expires_at = e.expires_at, closed_at = e.closed_at
    from e join leases g on g.id = e.id, unchanged u where u.yes and l.ctid = g.place
  ), added as (
    ${insertText(19, ' cross join unchanged u where u.yes')}
  )
  select yes from unchanged`,
};

/**
 * Writes the changes if all rows still have the versions by which they were decided, and no wallet has to hold a lease.
 * Returns whether it has written them.
 */
export async function writeIfUnchanged(
  { pool }: Pick<Postgres, 'pool'>,
  { projectNo, projectId }: ProjectRef,
  { rules, changed, added, wallets }: GroupChanges,
): Promise<boolean> {
  const rows = changed.map(({ lease }) => toLeaseRow(lease));
  const values = [
    ...[projectNo, projectId],
    rules.map(({ subject }) => subject.type),
    rules.map(({ subject }) => subject.id),
    rules.map(({ ruleNo }) => ruleNo),
    rules.map(({ amount }) => amountText(amount)),
    rules.map(({ version }) => version ?? null),
    rows.map(({ id }) => id),
    changed.map(({ found }) => found.version),
    rows.map(({ used }) => used),
    rows.map(({ held }) => held),
    rows.map(({ holds }) => holds && JSON.stringify(holds)),
    rows.map(({ status }) => status),
    rows.map((row) => row.expires_at),
    rows.map((row) => row.closed_at),
    wallets.map(({ accountId }) => accountId),
    wallets.map(({ currency }) => currency),
    [...new Set(rules.filter(({ amount }) => amount !== 0n).map(subjectNumberOf))],
    ...newLeaseValues(added),
  ];
  const { rows: written } = await pool.query<{ yes: boolean }>({ ...WRITE, values });
  return written[0]?.yes === true;
}
