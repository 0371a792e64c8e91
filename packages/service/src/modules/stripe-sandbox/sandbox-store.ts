import { sql } from 'kysely';
import type { Db, Tx } from '../../platform/postgres/index.js';
import type { SandboxSession } from './session.js';

const sessionColumns = sql`
  id, status, product_name as "productName", amount_minor as "amountMinor", currency, success_url as "successUrl",
  cancel_url as "cancelUrl", payment_metadata as "paymentMetadata", payment_intent_id as "paymentIntentId", declined,
  expires_at as "expiresAt", created_at as "createdAt"`;

/** The fields that make two requests the same. */
export interface RequestIdentity {
  readonly idempotencyKey: string;
  /** SHA-256 of the parameters. */
  readonly requestHash: Buffer;
}

/**
 * Stores a session unless there is one for the key; waits for another request that is storing one. Returns whether it
 * did.
 */
export async function insertSandboxSession(
  tx: Tx,
  session: SandboxSession,
  { idempotencyKey, requestHash }: RequestIdentity,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into sandbox_sessions (id, idempotency_key, request_hash, status, product_name, amount_minor, currency,
      success_url, cancel_url, payment_metadata, payment_intent_id, expires_at, created_at)
    values (${session.id}, ${idempotencyKey}, ${requestHash}, ${session.status}, ${session.productName},
      ${session.amountMinor}, ${session.currency}, ${session.successUrl}, ${session.cancelUrl},
      ${JSON.stringify(session.paymentMetadata)}, ${session.paymentIntentId}, ${session.expiresAt},
      ${session.createdAt})
    on conflict (idempotency_key) do nothing
  `.execute(tx);
  return numAffectedRows === 1n;
}

export async function findSessionOfKey(
  tx: Tx,
  idempotencyKey: string,
): Promise<(SandboxSession & { readonly requestHash: Buffer }) | undefined> {
  const { rows } = await sql<SandboxSession & { requestHash: Buffer }>`
    select ${sessionColumns}, request_hash as "requestHash" from sandbox_sessions
    where idempotency_key = ${idempotencyKey}
  `.execute(tx);
  return rows[0];
}

export async function findSession(db: Db, id: string): Promise<SandboxSession | undefined> {
  const { rows } = await sql<SandboxSession>`
    select ${sessionColumns} from sandbox_sessions where id = ${id}
  `.execute(db);
  return rows[0];
}

/** Locks the session until the transaction ends. */
export async function lockSession(tx: Tx, id: string): Promise<SandboxSession | undefined> {
  const { rows } = await sql<SandboxSession>`
    select ${sessionColumns} from sandbox_sessions where id = ${id} for update
  `.execute(tx);
  return rows[0];
}

export async function completeSession(tx: Tx, id: string): Promise<void> {
  await sql`update sandbox_sessions set status = 'complete' where id = ${id}`.execute(tx);
}

export async function countDecline(tx: Tx, id: string): Promise<void> {
  await sql`update sandbox_sessions set declined = declined + 1 where id = ${id}`.execute(tx);
}

/** Deletes up to `sessionsMax` sessions that ended before a time; returns how many. */
export async function deleteSessions(db: Db, endedBeforeS: number, sessionsMax: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from sandbox_sessions where id in (
      select id from sandbox_sessions where expires_at < ${endedBeforeS}
      order by expires_at limit ${sessionsMax} for update skip locked)
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/** An event that is to be delivered. */
export interface DueEvent {
  readonly id: string;
  readonly body: string;
  /** This attempt included. */
  readonly attempts: number;
  readonly createdAtMs: number;
}

export async function insertEvent(tx: Tx, id: string, body: string, nowMs: number): Promise<void> {
  await sql`
    insert into sandbox_events (id, body, next_attempt_at_ms, created_at_ms) values (${id}, ${body}, ${nowMs}, ${nowMs})
  `.execute(tx);
}

/** Claims events that are due; no other process takes them until the lease ends. */
export async function claimEvents(
  db: Db,
  nowMs: number,
  leaseUntilMs: number,
  eventsMax: number,
): Promise<DueEvent[]> {
  const { rows } = await sql<DueEvent>`
    update sandbox_events set attempts = attempts + 1, next_attempt_at_ms = ${leaseUntilMs}
    where id in (
      select id from sandbox_events where next_attempt_at_ms <= ${nowMs}
      order by next_attempt_at_ms limit ${eventsMax} for update skip locked)
    returning id, body, attempts, created_at_ms as "createdAtMs"
  `.execute(db);
  return rows;
}

export async function deleteEvent(db: Db, id: string): Promise<void> {
  await sql`delete from sandbox_events where id = ${id}`.execute(db);
}

export async function postponeEvent(db: Db, id: string, nextAttemptAtMs: number): Promise<void> {
  await sql`update sandbox_events set next_attempt_at_ms = ${nextAttemptAtMs} where id = ${id}`.execute(db);
}
