import { memoized } from '../../../kernel/maps.js';
import type { ProjectRef } from '../../../kernel/scope.js';
import { noteText } from '../../../platform/changes/index.js';
import { isUniqueViolation, type Postgres } from '../../../platform/postgres/index.js';
import {
  amountText,
  changeHoldsText,
  type HoldChange,
  insertKeyUsesText,
  isAnyPrepaidText,
  type KeyUse,
  keyUseValues,
  lockHoldsText,
  type WalletKey,
  walletNumber,
} from '../../ledger/index.js';
import { keyScopeOf } from './decisions.js';
import type { Lease } from './lease.js';
import { toLeaseRow } from './lease-row.js';
import {
  CHANGE_RESERVED,
  type HeldAmount,
  IS_SAME_RULE,
  RULE_LOCK_ORDER,
  subjectNumberOf,
} from './reserved-store.js';
import { insertText, newLeaseValues } from './store.js';

/** A change of what a rule holds, which may be 0. */
export interface RuleChange extends HeldAmount {
  /** The version by which the change was decided; undefined for one that does not depend on it. */
  readonly version: string | undefined;
}

/** A lease to lock. */
export interface LeaseToLock {
  readonly id: string;
  /** The number of leases that it is a part of. */
  readonly depth: number;
  /** The version by which the group was decided; undefined for one that is only locked. */
  readonly version: string | undefined;
  /** The lease as it is from now on; undefined for one that stays as it is. */
  readonly changed: Lease | undefined;
}

/** The changes of a group. They are in force together or not at all. */
export interface GroupChanges {
  readonly rules: readonly RuleChange[];
  /** Leases that the decisions depend on, with all that they are a part of. */
  readonly leases: readonly LeaseToLock[];
  readonly added: readonly Lease[];
  /** The wallets that pay for new leases and hold nothing of them: none may be prepaid. */
  readonly unheld: readonly WalletKey[];
  readonly holds: readonly HoldChange[];
  /** The new uses of idempotency keys. */
  readonly keys: readonly KeyUse[];
}

/** The parts of the statement that few groups need. */
interface Parts {
  readonly hasLeases: boolean;
  readonly hasHolds: boolean;
  readonly hasKeys: boolean;
}

/** The first parameter of new leases, after those that every group has. */
const FIRST_OF_ADDED = 12;
/** The number of parameters up to those of the optional parts. */
const OF_EVERY_GROUP = 16;

/**
 * Locks leases, then rules, then wallets, in the order that all transactions use; a row whose version is another one is
 * left out. Unless all are there, nothing is written. A lock waits for others that have the row, and then sees their
 * change, so nothing can be changed between the look at a version and the commit of this statement. `limit` makes each
 * row one look-up in the index, one after the other: a plan that is kept must not depend on the sizes of tables.
 * Idempotency keys come last, when all locks are taken: one that others have used fails the statement.
 */
function writeText(parts: Parts): string {
  const { leases, holds, keys } = partTexts(parts);
  return `
  with k as materialized (
    select $1::int as project_no, k.* from unnest($4::text[], $5::text[], $6::int[], $7::numeric[], $8::xid[])
      as k (subject_type, subject_id, rule_no, amount, version)
  ), ${leases.lock} rules as materialized (
    select g.* from (select * from k as r order by ${RULE_LOCK_ORDER}) as g
    cross join lateral (
      select from limit_reserved r
      where ${IS_SAME_RULE} and (g.version is null or r.xmin = g.version) limit 1 for update
    ) as r
    where ${leases.areLocked}
  ), ${holds.lock} unchanged as materialized (
    select ${leases.areLocked} and ${ARE_RULES_LOCKED} and ${holds.areLocked}
      and not ${isAnyPrepaidText(['$2', '$3', '$9', '$10'])} as yes
  ), noted as (
    ${noteText('$11', 'from unchanged u where u.yes and cardinality($11::integer[]) > 0')}
  ), reserved as (
    ${CHANGE_RESERVED} from rules g, unchanged u where u.yes and g.amount <> 0 and ${IS_SAME_RULE}
  ), ${leases.change} ${holds.change} ${keys} added as (
    ${insertText(FIRST_OF_ADDED, ' cross join unchanged u where u.yes')}
  )
  select pg_current_xact_id()::xid as version from unchanged where yes`;
}

const ARE_RULES_LOCKED = '(select count(version) from rules) = (select count(version) from k)';

/** Numbers the parameters of the parts in the order in which `partValues` returns their values. */
function partTexts({ hasLeases, hasHolds, hasKeys }: Parts) {
  let last = OF_EVERY_GROUP;
  const next = () => `$${++last}`;
  const none = { lock: '', areLocked: 'true', change: '' };
  return {
    leases: hasLeases ? lockedLeases(next) : none,
    holds: hasHolds ? changedHolds(next) : none,
    keys: hasKeys ? `keyed as (${insertKeyUsesText(last + 1, 'cross join unchanged u where u.yes')}),` : '',
  };
}

/** A lease comes after all leases that it is a part of; leases without a status stay as they are. */
function lockedLeases(next: () => string) {
  return {
    lock: `e as materialized (
    select * from unnest(${next()}::text[], ${next()}::int[], ${next()}::xid[], ${next()}::numeric[],
      ${next()}::numeric[], ${next()}::text[], ${next()}::text[], ${next()}::bigint[], ${next()}::bigint[],
      ${next()}::boolean[])
      as e (id, depth, version, used, held, holds, status, expires_at, closed_at, has_children)
  ), leases as materialized (
    select l.* from (select id, version from e order by depth, id) as e
    cross join lateral (
      select l.id, l.ctid as place from budget_leases l
      where l.tenant_id = $2 and l.project_id = $3 and l.id = e.id and (e.version is null or l.xmin = e.version)
      limit 1 for update
    ) as l
  ),`,
    areLocked: '(select count(*) from leases) = (select count(*) from e)',
    change: `changed as (
    update budget_leases l set used = e.used, held = e.held, holds = e.holds::json, status = e.status,
      expires_at = e.expires_at, closed_at = e.closed_at, has_children = e.has_children
    from e join leases g on g.id = e.id, unchanged u where u.yes and e.status is not null and l.ctid = g.place
  ),`,
  };
}

function changedHolds(next: () => string) {
  const [accounts, currencies, amounts, asks, now] = [next(), next(), next(), next(), next()] as const;
  const parameters = { tenant: '$2', project: '$3', accounts, currencies, amounts, asks, now };
  return {
    lock: `payers as materialized (${lockHoldsText(parameters, ARE_RULES_LOCKED)}),`,
    areLocked: `(select count(*) from payers) = cardinality(${accounts}::text[])`,
    change: `held as (${changeHoldsText(parameters, 'payers', 'unchanged u where u.yes')}),`,
  };
}

const statements = new Map<string, string>();

/** Returns the prepared statement that has these parts. */
function writeStatement(parts: Parts): { readonly name: string; readonly text: string } {
  const { hasLeases, hasHolds, hasKeys } = parts;
  const name = `leases-unlocked${hasLeases ? '-changed' : ''}${hasHolds ? '-holds' : ''}${hasKeys ? '-keys' : ''}`;
  return { name, text: memoized(statements, name, () => writeText(parts)) };
}

/**
 * Writes the changes if all rows still have the versions by which they were decided, wallets can hold what they are
 * asked for, and nobody has used the keys.
 *
 * @returns the version that changed rows have now; undefined if it has written nothing
 */
export async function writeIfUnchanged(
  { pool }: Pick<Postgres, 'pool'>,
  project: ProjectRef,
  changes: GroupChanges,
  nowS: number,
): Promise<string | undefined> {
  const { rules, leases, added, unheld, holds, keys } = changes;
  const parts = { hasLeases: leases.length > 0, hasHolds: holds.length > 0, hasKeys: keys.length > 0 };
  const noted = [
    ...rules.filter(({ amount }) => amount !== 0n).map(subjectNumberOf),
    ...holds.filter(({ amount }) => amount !== 0n).map(walletNumber),
  ];
  const values = [
    ...[project.projectNo, project.tenantId, project.projectId],
    rules.map(({ subject }) => subject.type),
    rules.map(({ subject }) => subject.id),
    rules.map(({ ruleNo }) => ruleNo),
    rules.map(({ amount }) => amountText(amount)),
    rules.map(({ version }) => version ?? null),
    unheld.map(({ accountId }) => accountId),
    unheld.map(({ currency }) => currency),
    [...new Set(noted)],
    ...newLeaseValues(added),
    ...(parts.hasLeases ? lockedValues(leases) : []),
    ...(parts.hasHolds ? holdValues(holds, nowS) : []),
    ...(parts.hasKeys ? keyUseValues(keyScopeOf(project), keys, nowS) : []),
  ];
  try {
    const { rows } = await pool.query<{ version: string }>({ ...writeStatement(parts), values });
    return rows[0]?.version;
  } catch (error) {
    if (parts.hasKeys && isUniqueViolation(error, 'idempotent_requests_pkey')) return undefined;
    throw error;
  }
}

function lockedValues(leases: readonly LeaseToLock[]): unknown[] {
  const rows = leases.map(({ changed }) => changed && toLeaseRow(changed));
  return [
    leases.map(({ id }) => id),
    leases.map(({ depth }) => depth),
    leases.map(({ version }) => version ?? null),
    rows.map((row) => row?.used),
    rows.map((row) => row?.held),
    rows.map((row) => row?.holds && JSON.stringify(row.holds)),
    rows.map((row) => row?.status),
    rows.map((row) => row?.expires_at),
    rows.map((row) => row?.closed_at),
    rows.map((row) => row?.has_children),
  ];
}

function holdValues(holds: readonly HoldChange[], nowS: number): unknown[] {
  return [
    holds.map(({ accountId }) => accountId),
    holds.map(({ currency }) => currency),
    holds.map(({ amount }) => amountText(amount)),
    holds.map(({ asks }) => asks),
    nowS,
  ];
}
