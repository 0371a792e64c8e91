import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type TestPostgres, waitFor } from '../../packages/service/src/testing/index.js';
import { newScratchFolder } from '../../packages/service/src/testing/scratch-folder.js';
import { programPath } from './programs.js';
import { freePort } from './service.js';

const PROGRAM = programPath('pgbouncer');
export const hasPgBouncer = PROGRAM !== undefined;

/** A connection pooler in front of a database of the tests. */
export class PgBouncer {
  readonly #child: ChildProcess;
  /** The URL of the database through the pooler. */
  readonly url: string;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  /** @param settings of PgBouncer, in addition to those that every test needs */
  static async start(
    { connectionString }: Pick<TestPostgres, 'connectionString'>,
    settings: Readonly<Record<string, string | number>>,
  ): Promise<PgBouncer> {
    const port = await freePort();
    const { pathname, port: serverPort, username: user, password, searchParams } = new URL(connectionString);
    const host = searchParams.get('host') ?? '';
    const file = writeConfig(
      { '*': `host=${host} port=${serverPort} user=${user} password=${password}` },
      { listen_addr: '127.0.0.1', listen_port: port, unix_socket_dir: '', auth_type: 'any', ...settings },
    );
    // It refuses to run as root, and only the account of PostgreSQL may use its socket.
    const { uid, gid } = statSync(host);
    chownSync(file, uid, gid);
    const child = spawn(PROGRAM as string, ['--quiet', file], { uid, gid, stdio: 'ignore' });
    const bouncer = new PgBouncer(child, `postgresql://anybody@127.0.0.1:${port}${pathname}`);
    await waitFor(() => listens(port), { what: 'the start of PgBouncer' });
    return bouncer;
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
  }
}

/** Returns the URL of a database that several poolers have, each in front of another server. */
export function urlOfPoolers(poolers: readonly PgBouncer[]): string {
  const [first = new URL(''), ...others] = poolers.map(({ url }) => new URL(url));
  const hosts = [first, ...others].map(({ host }) => host).join();
  return `${first.protocol}//${first.username}@${hosts}${first.pathname}?target_session_attrs=read-write`;
}

function writeConfig(
  databases: Readonly<Record<string, string>>,
  settings: Readonly<Record<string, string | number>>,
): string {
  const lines = (section: object) => Object.entries(section).map(([name, value]) => `${name} = ${value}`);
  const folder = newScratchFolder('pgbouncer-');
  chmodSync(folder, 0o711);
  const file = join(folder, 'pgbouncer.ini');
  const text = ['[databases]', ...lines(databases), '[pgbouncer]', ...lines(settings), ''].join('\n');
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => socket.end(() => resolve(true)));
    socket.once('error', () => resolve(false));
  });
}
