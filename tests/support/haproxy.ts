import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '../../packages/service/src/testing/wait-for.js';
import { call } from './http.js';
import { programPath } from './programs.js';
import { freePort } from './service.js';

const PROGRAM = programPath('haproxy');
export const hasHaproxy = PROGRAM !== undefined;

const END_TIMEOUT_MS = 60_000;
const PRINTED_CHARS_MAX = 10_000;

/** A load balancer in front of services, in a process of its own. It tries no request again. */
export class Haproxy {
  readonly url: string;
  readonly #statistics: { readonly url: string };
  readonly #child: ChildProcess;
  readonly #folder: string;
  /** Its messages, which tests with faults expect. */
  #printed = '';

  private constructor(ports: { balancer: number; statistics: number }, config: string) {
    this.url = `http://127.0.0.1:${ports.balancer}`;
    this.#statistics = { url: `http://127.0.0.1:${ports.statistics}` };
    this.#folder = mkdtempSync(join(tmpdir(), 'tollgate-haproxy-'));
    const file = join(this.#folder, 'haproxy.cfg');
    writeFileSync(file, config);
    this.#child = spawn(PROGRAM as string, ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#printed = (this.#printed + text).slice(-PRINTED_CHARS_MAX);
    });
  }

  /** Starts the load balancer, and waits until it sends requests to each service. */
  static async start(services: readonly { readonly port: number }[]): Promise<Haproxy> {
    const ports = { balancer: await freePort(), statistics: await freePort() };
    const haproxy = new Haproxy(ports, configOf(services, ports));
    try {
      for (const { port } of services) await haproxy.untilState(port, 'UP');
    } catch (error) {
      await haproxy.stop();
      throw new Error(`HAProxy did not start. It printed:\n${haproxy.#printed}`, { cause: error });
    }
    return haproxy;
  }

  /** Waits until the health checks of the service with this port have found it up or down. */
  async untilState(port: number, state: 'UP' | 'DOWN'): Promise<void> {
    const isReached = async () => (await this.#stateOf(port)) === state;
    await waitFor(isReached, { timeoutMs: 120_000, what: `${state} of ${port} at the load balancer` });
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGTERM');
      await once(this.#child, 'exit', { signal: AbortSignal.timeout(END_TIMEOUT_MS) });
    }
    rmSync(this.#folder, { recursive: true });
  }

  /** Returns undefined while the load balancer itself is not up. */
  async #stateOf(port: number): Promise<string | undefined> {
    const answer = await call(this.#statistics, 'GET', '/;csv').catch(() => undefined);
    const [header = [], ...rows] = (answer?.text ?? '').split('\n').map((line) => line.split(','));
    return rows.find((row) => row[1] === nameOf(port))?.[header.indexOf('status')];
  }
}

const nameOf = (port: number) => `port_${port}`;

function configOf(
  services: readonly { readonly port: number }[],
  ports: { balancer: number; statistics: number },
): string {
  const servers = services.map(({ port }) => `  server ${nameOf(port)} 127.0.0.1:${port}`);
  return `defaults
  mode http
  retries 0
  timeout connect 10s
  timeout check 10s
  timeout client 60s
  timeout server 60s

frontend clients
  bind 127.0.0.1:${ports.balancer}
  default_backend services

backend services
  balance roundrobin
  option httpchk
  http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host tollgate
  http-check expect status 200
  default-server check inter 200ms fall 1 rise 1
${servers.join('\n')}

frontend statistics
  bind 127.0.0.1:${ports.statistics}
  stats enable
  stats uri /
`;
}
