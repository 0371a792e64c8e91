import { setTimeout as delay } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import type { Logger } from 'pino';
import { MigrationError } from '../migration-files.js';
import { unlessAborted } from '../wait.js';
import { isLockRefused } from './errors.js';

type Session = Pick<PoolClient, 'query'>;

/** How long a migration waits for locks, and how often. */
export interface LockPatience {
  /**
   * Upper bound of one wait. All other statements on the same table wait behind it. It is not longer than the usual
   * `deadlock_timeout`, so that in a deadlock the migration gives way, and not the service.
   */
  readonly waitMsMax: number;
  /** Time between two attempts, in which the statements of others run. */
  readonly pauseMs: number;
  readonly attemptsMax: number;
}

/** Five minutes in all. */
export const LOCK_PATIENCE: LockPatience = { waitMsMax: 1_000, pauseMs: 4_000, attemptsMax: 60 };

/** A session that changes the schema, and those that wait for it. */
export interface SchemaChange {
  /** Changes the schema. */
  readonly session: Session;
  /** Another session, which sees what the first one waits for. */
  readonly observer: Session;
  readonly patience: LockPatience;
  readonly log: Pick<Logger, 'warn'> | undefined;
  /** Ends the pauses, with its reason. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Runs `work` until it gets its locks, with pauses. The log has a sentence for each failed attempt.
 *
 * @param subject the beginning of these sentences, such as `Migration 7 (init)`
 * @param work changes nothing if it does not get its locks
 * @throws MigrationError after the last attempt, with a sentence that says what to do
 */
export async function untilLocked<T>(
  change: SchemaChange,
  subject: string,
  work: () => Promise<T>,
): Promise<T> {
  const { waitMsMax, pauseMs, attemptsMax } = change.patience;
  for (let attempt = 1; ; attempt += 1) {
    let wait: Wait = { lock: 'a lock', reason: '' };
    try {
      // So often that each wait which is too long is seen.
      return await whileWatched(change, waitMsMax / 4, work, (seen) => {
        wait = seen;
      });
    } catch (error) {
      if (!isLockRefused(error)) throw error;
    }
    const problem = `${subject} did not get ${wait.lock} within ${waitMsMax} ms${wait.reason}`;
    if (attempt === attemptsMax) {
      throw new MigrationError(
        `${problem}, in ${attemptsMax} attempts: look for long transactions in pg_stat_activity, wait for their end or end them, and try again.`,
      );
    }
    change.log?.warn(`${problem}. Attempt ${attempt + 1} of ${attemptsMax} follows in ${pauseMs} ms.`);
    await unlessAborted(delay(pauseMs), change.signal);
  }
}

/**
 * Runs `work` in the session of the change, and reports what it waits for, if the observer sees it wait.
 *
 * @param onWait called with each wait that the observer sees
 */
export async function whileWatched<T>(
  { session, observer }: SchemaChange,
  intervalMs: number,
  work: () => Promise<T>,
  onWait: (wait: Wait) => void,
): Promise<T> {
  const { rows } = await session.query<{ pid: number }>('select pg_backend_pid() as pid');
  const pid = rows[0]?.pid ?? 0;
  const ended = new AbortController();
  const watching = watch();
  try {
    return await work();
  } finally {
    ended.abort();
    // Without the observer, the migration only knows less about its waits.
    await watching.catch(() => {});
  }

  async function watch(): Promise<void> {
    const { signal } = ended;
    while (await delay(intervalMs, true, { signal }).catch(() => false)) {
      const wait = await findWait(observer, pid);
      if (wait !== undefined) onWait(wait);
    }
  }
}

/** A lock that a session waits for, and why it waits, as parts of a sentence. */
interface Wait {
  readonly lock: string;
  /** Empty if it is not known. */
  readonly reason: string;
}

interface WaitRow {
  readonly mode: string;
  /** Null for a lock that is not one of a table. */
  readonly relation: string | null;
  /** Null if the lock has just become free. */
  readonly holder: number | null;
  readonly application: string | null;
  /** Age of its transaction; null if this role may not see it. */
  readonly seconds: number | null;
}

async function findWait(observer: Session, pid: number): Promise<Wait | undefined> {
  const { rows } = await observer.query<WaitRow>(
    `select mode, relation::regclass::text as relation, activity.pid as holder,
      nullif(application_name, '') as application,
      extract(epoch from clock_timestamp() - xact_start)::integer as seconds
    from pg_locks
      left join lateral unnest(pg_blocking_pids(pg_locks.pid)) as blocking(pid) on true
      left join pg_stat_activity activity on activity.pid = blocking.pid
    where pg_locks.pid = $1 and not granted
    order by xact_start limit 1`,
    [pid],
  );
  return rows[0] && describeWait(rows[0]);
}

function describeWait({ mode, relation, holder, application, seconds }: WaitRow): Wait {
  const lock = `${mode} on ${relation ?? 'a transaction'}`;
  if (holder === null) return { lock, reason: '' };
  const name = application === null ? '' : ` (${application})`;
  const age = seconds === null ? '' : `, whose transaction is ${seconds} s old`;
  return { lock, reason: `, because of process ${holder}${name}${age}` };
}
