import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import type { PoolClient } from 'pg';
import pg from 'pg';
import { compareText } from '../../kernel/compare-text.js';
import { SCHEMA_NUMBER } from './advisory-lock.js';
import type { Postgres } from './connect.js';

/** Names the advisory lock that a backup holds for as long as files must not be deleted. */
const BACKUP_LOCK = 'tollgate-backup';
const BACKUP_LOCK_KEY = `hashtextextended('${BACKUP_LOCK}', 0) # ${SCHEMA_NUMBER}`;
/** Keeps the write-ahead log from its creation on. A temporary slot ends with its session, however that ends. */
const BACKUP_SLOT = 'tollgate_backup';
const DUPLICATE_OBJECT = '42710';

/** The server writes these folders again at its start; a copy of their content could do harm. */
const EMPTIED_FOLDERS = new Set([
  'pg_dynshmem',
  'pg_notify',
  'pg_replslot',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
  // The log that recovery needs is copied separately, when it is known where it ends.
  'pg_wal',
]);
/** Files of a running server, of an interrupted one, and files that belong to another backup. */
const LEFT_OUT =
  /^(postmaster\.(pid|opts)|postgresql\.auto\.conf\.tmp|current_logfiles(\.tmp)?|pg_internal\.init.*|pgsql_tmp.*|backup_(label|manifest)(\.old)?|tablespace_map(\.old)?|t\d+_\d+.*)$/;
/** The file of a cluster that is copied last, as PostgreSQL's own program does. */
export const CONTROL_FILE = 'global/pg_control';

/** Another backup of the cluster is under way. */
export class BackupUnderWayError extends Error {
  constructor() {
    super('another backup is under way');
    this.name = 'BackupUnderWayError';
  }
}

/** A file or folder of the cluster, by its path in the cluster's folder. */
export interface ClusterEntry {
  readonly path: string;
  readonly isFolder: boolean;
}

/** The facts that make a copy of the cluster's files a base backup. */
export interface BaseBackupEnd {
  /** The text of the file `backup_label`: it tells the server where recovery begins, and that it must reach the end. */
  readonly label: string;
  /** Files of the write-ahead log that recovery needs, by their paths in the cluster's folder. */
  readonly logFiles: readonly string[];
}

/**
 * Returns whether a backup is under way, so that files must stay. Ask after the rows that referred to a file are gone:
 * a backup that begins later does not need the file, and one that began earlier is noticed.
 */
export async function isBackupUnderWay({ pool }: Pick<Postgres, 'pool'>): Promise<boolean> {
  const { rows } = await pool.query<{ is_free: boolean }>(
    `select pg_try_advisory_xact_lock_shared(${BACKUP_LOCK_KEY}) as is_free`,
  );
  return rows[0]?.is_free !== true;
}

/**
 * An online base backup of an embedded cluster, by the functions that PostgreSQL has for this
 * (https://www.postgresql.org/docs/current/continuous-archiving.html, "Making a Base Backup Using the Low Level API").
 * One session holds everything: the state of the backup, the log and the files that must stay. So when the process of
 * the backup dies, PostgreSQL ends all of it.
 */
export class BaseBackup {
  readonly #session: PoolClient;
  readonly #clusterFolder: string;
  readonly #startLsn: string;

  private constructor(session: PoolClient, clusterFolder: string, startLsn: string) {
    this.#session = session;
    this.#clusterFolder = clusterFolder;
    this.#startLsn = startLsn;
  }

  /**
   * From now on no file is deleted at which a row points, and no log that the backup needs. Waits for a checkpoint.
   *
   * @throws BackupUnderWayError
   */
  static async start({ pool }: Pick<Postgres, 'pool'>, clusterFolder: string): Promise<BaseBackup> {
    const session = await pool.connect();
    try {
      await session.query('select pg_create_physical_replication_slot($1, true, true)', [BACKUP_SLOT]);
      await session.query(`select pg_advisory_lock(${BACKUP_LOCK_KEY})`);
      const { rows } = await session.query<{ lsn: string }>(
        `select pg_backup_start('tollgate backup', true)::text as lsn`,
      );
      return new BaseBackup(session, clusterFolder, rows[0]?.lsn ?? '');
    } catch (error) {
      session.release(true);
      if (error instanceof pg.DatabaseError && error.code === DUPLICATE_OBJECT)
        throw new BackupUnderWayError();
      throw error;
    }
  }

  /**
   * Lists what to copy before `stop`, except the control file. The server changes, adds and deletes files meanwhile.
   */
  entries(): AsyncGenerator<ClusterEntry> {
    return this.#entriesOf('');
  }

  /**
   * Ends the copying. The backup contains all transactions that were committed before this call, and some that are
   * committed during it. Files must stay until `end`.
   */
  async stop(): Promise<BaseBackupEnd> {
    const { rows } = await this.#session.query<{ lsn: string; label: string; tablespaces: string }>(
      'select lsn::text, labelfile as label, spcmapfile as tablespaces from pg_backup_stop(false)',
    );
    const { lsn = '', label = '', tablespaces = '' } = rows[0] ?? {};
    if (tablespaces.trim() !== '') throw new Error('a cluster with tablespaces cannot be backed up');
    return { label, logFiles: await this.#logFiles(lsn) };
  }

  /** Files may be deleted again. Rejects if the session was lost meanwhile: then the backup may lack files. */
  async end(): Promise<void> {
    try {
      // The slot would go with the session, but later than this call, and another backup would be refused meanwhile.
      await this.#session.query(
        `select pg_drop_replication_slot($1), pg_advisory_unlock(${BACKUP_LOCK_KEY})`,
        [BACKUP_SLOT],
      );
    } finally {
      this.abandon();
    }
  }

  /** Ends the session, and with it the backup. */
  abandon(): void {
    this.#session.release(true);
  }

  async *#entriesOf(folder: string): AsyncGenerator<ClusterEntry> {
    for await (const { name, isFolder, isLink } of namesIn(join(this.#clusterFolder, folder))) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (LEFT_OUT.test(name) || path === CONTROL_FILE) continue;
      if (isLink) throw new Error(`${path} of the PostgreSQL cluster is a link, which cannot be backed up`);
      yield { path, isFolder };
      if (isFolder && !EMPTIED_FOLDERS.has(path)) yield* this.#entriesOf(path);
    }
  }

  /** Returns the log from the beginning of the backup to its end, without a gap. */
  async #logFiles(stopLsn: string): Promise<string[]> {
    const { rows } = await this.#session.query<{ name: string }>(
      `with size as (
        select setting::numeric as bytes from pg_settings where name = 'wal_segment_size'
      )
      select pg_walfile_name('0/0'::pg_lsn + number * bytes + 1) as name
      from size, generate_series(
        div($1::pg_lsn - '0/0'::pg_lsn, bytes), div($2::pg_lsn - '0/0'::pg_lsn - 1, bytes)
      ) as number`,
      [this.#startLsn, stopLsn],
    );
    // After a point-in-time recovery, these files describe the timelines before.
    const histories: string[] = [];
    for await (const { name } of namesIn(join(this.#clusterFolder, 'pg_wal'))) {
      if (name.endsWith('.history')) histories.push(name);
    }
    return [...rows.map(({ name }) => name), ...histories.sort(compareText)].map((name) => `pg_wal/${name}`);
  }
}

/** Lists a folder; a folder that was deleted is empty. */
async function* namesIn(folder: string) {
  try {
    for await (const entry of await opendir(folder)) {
      yield { name: entry.name, isFolder: entry.isDirectory(), isLink: entry.isSymbolicLink() };
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
