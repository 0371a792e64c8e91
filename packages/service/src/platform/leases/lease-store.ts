import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../postgres/index.js';
import { VERSION } from '../version.js';

/** The time of the database, which all members share. */
const NOW_MS = sql`(extract(epoch from now()) * 1000)::bigint`;
/** The expiry of a member whose process is known to have ended; any other expiry is later. */
const ENDED_AT_MS = sql`0`;

/** The right of one owner to work on a number of a kind. */
export interface ProcessLease {
  readonly kind: string;
  readonly number: number;
  /** Differs between two owners of the same number. */
  readonly epoch: number;
}

/** The state of a kind of work, seen by one member. */
export interface Membership {
  readonly kind: string;
  /** Whether the caller is a member, and its membership was renewed. */
  readonly isMember: boolean;
  /** Whether the membership of the caller had expired before this renewal. */
  readonly hadExpired: boolean;
  /** The number of members that have not expired, including the caller. */
  readonly members: number;
  /** The number of these members that joined before the caller. */
  readonly before: number;
  /** The number of members that have expired. */
  readonly expired: number;
  /** The number of them whose processes are known to have ended. */
  readonly ended: number;
  /** The numbers below the count that have no owner. */
  readonly free: number;
  readonly held: readonly ProcessLease[];
}

export interface KindCount {
  readonly kind: string;
  /** The kind has the numbers from 0 to `count` - 1. */
  readonly count: number;
}

/**
 * Renews the memberships of an owner, and returns the state of each kind, in the order of `kinds`. It is one statement,
 * which changes one row of each kind, however many numbers there are.
 */
export async function renewMemberships(
  db: Db,
  owner: string,
  kinds: readonly KindCount[],
  expiryMs: number,
): Promise<Membership[]> {
  type Row = Omit<Membership, 'held'> & { numbers: number[]; epochs: number[] };
  const { rows } = await sql<Row>`
    with before as (
      select kind, expires_at_ms < ${NOW_MS} as had_expired from lease_members where owner = ${owner}
    ), renewed as (
      update lease_members set expires_at_ms = ${NOW_MS} + ${expiryMs}::bigint where owner = ${owner}
      returning kind, place
    )
    select wanted.kind, renewed.kind is not null as "isMember", coalesce(before.had_expired, false) as "hadExpired",
      alive.members, alive.before, alive.expired, alive.ended, wanted.count - taken.numbers as free, own.numbers,
      own.epochs
    from unnest(${kinds.map(({ kind }) => kind)}::text[], ${kinds.map(({ count }) => count)}::integer[])
        with ordinality as wanted (kind, count, position)
      left join renewed on renewed.kind = wanted.kind
      left join before on before.kind = wanted.kind
      cross join lateral (
        select count(*) filter (where is_alive)::integer as members,
          count(*) filter (where is_alive and place < renewed.place)::integer as before,
          count(*) filter (where not is_alive)::integer as expired,
          count(*) filter (where not is_alive and expires_at_ms = ${ENDED_AT_MS})::integer as ended
        from (
          select place, expires_at_ms, owner = ${owner} or expires_at_ms >= ${NOW_MS} as is_alive from lease_members
          where kind = wanted.kind
        ) member
      ) alive
      cross join lateral (
        select count(*)::integer as numbers from process_leases lease
        where lease.kind = wanted.kind and lease.number < wanted.count and lease.owner is not null
      ) taken
      cross join lateral (
        select coalesce(array_agg(number order by number), '{}') as numbers,
          coalesce(array_agg(epoch order by number), '{}') as epochs
        from process_leases lease where lease.kind = wanted.kind and lease.owner = ${owner}
      ) own
    order by wanted.position
  `.execute(db);
  return rows.map(({ numbers, epochs, ...state }) => ({
    ...state,
    held: numbers.map((number, index) => ({ kind: state.kind, number, epoch: epochs[index] as number })),
  }));
}

/** Makes an owner a member of these kinds; changes nothing for kinds of which it is already a member. */
export async function joinKinds(
  db: Db,
  owner: string,
  kinds: readonly KindCount[],
  process: string | undefined,
  expiryMs: number,
): Promise<void> {
  await sql`
    insert into lease_members (owner, kind, process, expires_at_ms, release)
    select ${owner}, kind, ${process ?? null}, ${NOW_MS} + ${expiryMs}::bigint, ${VERSION}
    from unnest(${kinds.map(({ kind }) => kind)}::text[]) as wanted (kind)
    on conflict (kind, owner) do nothing
  `.execute(db);
}

/** Returns the processes of the members of these kinds. */
export async function memberProcesses(db: Db, kinds: readonly KindCount[]): Promise<string[]> {
  const { rows } = await sql<{ process: string }>`
    select distinct process from lease_members
    where kind = any(${kinds.map(({ kind }) => kind)}::text[]) and process is not null
  `.execute(db);
  return rows.map(({ process }) => process);
}

/** Expires the memberships of processes that are known to have ended. */
export async function expireProcesses(db: Db, processes: readonly string[]): Promise<void> {
  await sql`
    update lease_members set expires_at_ms = ${ENDED_AT_MS} where process = any(${processes}::text[])
  `.execute(db);
}

/** A lease that a lost owner had. */
export interface LostLease {
  readonly kind: string;
  readonly owner: string;
  readonly number: number;
}

/**
 * Removes the expired members of a kind, or only those whose processes are known to have ended, and frees their leases.
 * Does nothing once the membership of the caller has expired too: it hung, or nobody could renew.
 *
 * The connections of their pools are ended, because a process that hangs keeps the locks of its transactions. A
 * connection is recognized by its application name, which ends with the owner. It is one statement, so that a process
 * that hangs while it does this holds no lock itself.
 */
export async function removeExpired(
  db: Db,
  owner: string,
  kind: string,
  which: 'expired' | 'ended',
): Promise<LostLease[]> {
  const isRemoved = which === 'ended' ? sql`expires_at_ms = ${ENDED_AT_MS}` : sql`expires_at_ms < ${NOW_MS}`;
  const { rows } = await sql<LostLease & { ended: number }>`
    with lost as (
      delete from lease_members where (kind, owner) in (
        select kind, owner from lease_members where kind = ${kind} and ${isRemoved} for update skip locked
      ) and exists (
        select from lease_members own
        where own.kind = ${kind} and own.owner = ${owner} and own.expires_at_ms >= ${NOW_MS}
      ) returning owner
    ), ended as (
      select count(*) filter (where pg_terminate_backend(pid)) as connections
      from pg_stat_activity activity join lost on right(activity.application_name, 36) = lost.owner::text
      where activity.datname = current_database() and activity.usename = current_user
    ), freed as (
      update process_leases lease set owner = null from lost
      where lease.kind = ${kind} and lease.owner = lost.owner
      returning lease.number, lost.owner
    )
    select ${kind} as kind, freed.owner, freed.number, ended.connections as ended from ended left join freed on true
  `.execute(db);
  return rows.filter(({ number }) => number !== null);
}

/** Takes numbers that have no owner, the lowest first. Skips numbers that another process is taking now. */
export async function takeLeases(
  db: Db,
  owner: string,
  { kind, count }: KindCount,
  numbersMax: number,
): Promise<void> {
  await sql`
    insert into process_leases (kind, number)
    select ${kind}, number from generate_series(0, ${count}::integer - 1) as wanted (number)
    where not exists (select from process_leases known where known.kind = ${kind} and known.number = wanted.number)
    on conflict (kind, number) do nothing
  `.execute(db);
  await sql`
    update process_leases set owner = ${owner}, epoch = epoch + 1
    where kind = ${kind} and number in (
      select number from process_leases where kind = ${kind} and owner is null and number < ${count}
      order by number limit ${numbersMax} for update skip locked
    )
  `.execute(db);
}

/** Frees numbers of an owner. */
export async function freeLeases(
  db: Db,
  owner: string,
  kind: string,
  numbers: readonly number[],
): Promise<void> {
  await sql`
    update process_leases set owner = null
    where kind = ${kind} and owner = ${owner} and number = any(${numbers}::integer[])
  `.execute(db);
}

/** Ends all memberships of an owner, and frees its leases. */
export async function leaveKinds(db: Db, owner: string): Promise<void> {
  await sql`
    with gone as (delete from lease_members where owner = ${owner})
    update process_leases set owner = null where owner = ${owner}
  `.execute(db);
}

/**
 * Returns a condition for a statement: the owner of these leases has lost none of them. It takes no lock, so the
 * statement must also be safe if a number changes its owner while it runs.
 */
export function fenceOf(leases: readonly ProcessLease[]): RawBuilder<boolean> {
  return sql`not exists (
    select from unnest(
      ${leases.map(({ kind }) => kind)}::text[], ${leases.map(({ number }) => number)}::integer[],
      ${leases.map(({ epoch }) => epoch)}::bigint[]) as held (kind, number, epoch)
    where not exists (
      select from process_leases lease
      where lease.kind = held.kind and lease.number = held.number and lease.epoch = held.epoch
        and lease.owner is not null
    )
  )`;
}

/** Returns whether a member of a kind runs release 0.1.0, which did not record its release. */
export async function hasFirstReleaseMember(db: Db, kind: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (
      select from lease_members where kind = ${kind} and expires_at_ms >= ${NOW_MS} and release is null
    ) as found
  `.execute(db);
  return rows[0]?.found === true;
}
