import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Postgres } from '../packages/service/src/platform/postgres/index.js';
import { connectTo, waitFor } from '../packages/service/src/testing/index.js';
import { hasLoopbackNetwork } from '../packages/service/src/testing/replicated-postgres.js';
import { createChargedProject, expectExactUsage } from './support/exact-usage.js';
import { LoadProcess, type LoadResult } from './support/load-process.js';
import type { SampleProject } from './support/sample-project.js';
import type { RunningService } from './support/service.js';
import { missingProgram, SplitInstallation, type SplitRole } from './support/split-installation.js';

/** `TOLLGATE_SPLIT_MINUTES=10 npm test -- tests/split-up.test.ts` is the long version, which prints its figures. */
const LONG_MS = Number(process.env.TOLLGATE_SPLIT_MINUTES ?? 0) * 60_000;
const isLong = LONG_MS > 0;
/** One for each shard, so that each worker and projector has something to do. */
const PROJECTS = 8;
const CLIENTS = 6;
/** The faults last as long with fewer requests, which leave the processors to the processes that recover. */
const CLIENT_PAUSE_MS = isLong ? 100 : 600;
const CLICKHOUSE_AWAY_MS = isLong ? 180_000 : 0;
/** Requests that are accepted while ClickHouse is away, and before each other fault. */
const REQUESTS_BETWEEN = isLong ? 20 : 10;
/** A lost process is replaced within 15 s; the rest of the time is for a busy machine. */
const RECOVERY = { timeoutMs: 120_000 };

/** A fault, and the milliseconds until work went on. */
interface Recovery {
  readonly fault: string;
  /** Until a new request was accepted. */
  readonly acceptedMs: number;
  /** Until the events of that time were rated and in ClickHouse. */
  readonly projectedMs: number;
}

const title = !hasLoopbackNetwork
  ? ', skipped because it needs Linux'
  : missingProgram === undefined
    ? ''
    : `, skipped because ${missingProgram} is not installed`;

describe.runIf(title === '')(`everything split up, with faults${title}`, () => {
  let installation: SplitInstallation;
  let load: LoadProcess;
  let postgres: Postgres;
  const projects: SampleProject[] = [];
  const frozen = new Set<RunningService>();
  const recoveries: Recovery[] = [];
  const occurredAt = Math.floor(Date.now() / 1_000) - 3_600;

  beforeAll(async () => {
    installation = await SplitInstallation.start();
    const { haproxy, servers } = installation.parts;
    postgres = connectTo(servers.url);
    projects.push(
      ...(await Promise.all(Array.from({ length: PROJECTS }, () => createChargedProject(one('api'))))),
    );
    const options = { projects, clients: CLIENTS, pauseMs: CLIENT_PAUSE_MS, occurredAt };
    load = new LoadProcess({ url: haproxy.url, ...options });
  });
  afterAll(async () => {
    load?.kill();
    for (const service of frozen) process.kill(service.pid, 'SIGCONT');
    await postgres?.close();
    await installation?.stop();
  });

  const one = (role: SplitRole, place = 0) => installation.parts.services[role][place] as RunningService;

  /** Returns the rows of the server that can be written to; undefined while there is none. */
  const tryRows = (sql: string): Promise<{ id: number }[] | undefined> =>
    postgres.pool.query(sql).then(
      ({ rows }) => rows,
      () => undefined,
    );

  async function waitForRows(sql: string, isReached: (rows: { id: number }[]) => boolean) {
    let rows: { id: number }[] | undefined;
    const look = async () => {
      rows = await tryRows(sql);
      return rows !== undefined && isReached(rows);
    };
    await waitFor(look, { ...RECOVERY, what: sql });
    return rows ?? [];
  }

  /** Waits until all events that are accepted now are rated and in ClickHouse. */
  async function waitUntilProjected(): Promise<void> {
    for (const table of ['segments', 'usage_batches']) {
      const [last] = await waitForRows(`select coalesce(max(id), 0) as id from ${table}`, () => true);
      await waitForRows(
        `select id from ${table} where id <= ${last?.id} limit 1`,
        ({ length }) => length === 0,
      );
    }
  }

  /** Causes a fault under load, and measures the time until work goes on while `mend` runs. */
  async function survive(fault: string, cause: () => unknown, mend: () => Promise<unknown>): Promise<void> {
    await load.goOn(REQUESTS_BETWEEN);
    await cause();
    const startMs = performance.now();
    const passedMs = () => Math.round(performance.now() - startMs);
    const [acceptedMs] = await Promise.all([load.goOn().then(passedMs), mend()]);
    await waitUntilProjected();
    recoveries.push({ fault, acceptedMs, projectedMs: passedMs() });
  }

  async function surviveKills(): Promise<void> {
    for (const role of ['worker', 'projector', 'api'] as const) {
      const service = one(role);
      await survive(
        `kill -9 of a process with the role ${role}`,
        () => service.crash('service'),
        () => service.start(),
      );
    }
  }

  /** Stops processes for longer than their leases. */
  async function surviveFreeze(roles: readonly SplitRole[]): Promise<void> {
    const services = roles.map((role) => one(role, 1));
    const members = `select 1 as id from lease_members where split_part(process, ' ', 2)
      in (${services.map(({ pid }) => `'${pid}'`)})`;
    const freeze = () => {
      for (const service of services) {
        process.kill(service.pid, 'SIGSTOP');
        frozen.add(service);
      }
    };
    await survive(`frozen: ${roles.join(' and ')}`, freeze, () =>
      waitForRows(members, ({ length }) => length === 0),
    );
    for (const service of services) {
      process.kill(service.pid, 'SIGCONT');
      frozen.delete(service);
    }
    await waitForRows(members, ({ length }) => length === services.length);
  }

  async function surviveFailover(): Promise<void> {
    const { servers } = installation.parts;
    const { failures } = load.counts;
    await survive(
      'fail-over of PostgreSQL',
      () => servers.crashPrimary(),
      async () => {
        await waitFor(() => load.counts.failures > failures, { ...RECOVERY, what: 'a refused request' });
        await servers.promote();
      },
    );
  }

  async function surviveClickHouseAway(awayMs: number): Promise<void> {
    const { clickhouseGate } = installation.parts;
    const startMs = performance.now();
    await clickhouseGate.shut();
    await load.goOn(REQUESTS_BETWEEN);
    await waitForRows('select id from usage_batches', ({ length }) => length >= PROJECTS);
    const isOver = () => performance.now() - startMs >= awayMs;
    await waitFor(isOver, { timeoutMs: awayMs + 1_000 });
    await survive(
      `ClickHouse away for ${awayMs} ms`,
      () => clickhouseGate.open(),
      async () => {},
    );
  }

  /** Sends what is under way, and compares both stores with everything that got a 202. */
  async function expectExact(): Promise<LoadResult> {
    const result = await load.finish();
    expect(result.problems).toEqual([]);
    await waitUntilProjected();
    for (const [place, project] of projects.entries()) {
      await expectExactUsage(installation.parts, project, result.acknowledged[place] ?? []);
    }
    const verified = await one('api').runCommand(['verify']);
    expect([verified.exitCode, verified.output]).toEqual([0, expect.stringContaining('Everything is equal')]);
    return result;
  }

  it(
    'counts every acknowledged event once, and charges it once',
    async () => {
      const endMs = performance.now() + LONG_MS;
      const freezes: SplitRole[][] = isLong ? [['worker'], ['projector']] : [['worker', 'projector']];
      const surviveProcessFaults = async () => {
        await surviveKills();
        for (const roles of freezes) await surviveFreeze(roles);
      };
      await surviveProcessFaults();
      await surviveFailover();
      await surviveClickHouseAway(CLICKHOUSE_AWAY_MS);
      while (performance.now() < endMs) {
        await surviveProcessFaults();
        await surviveClickHouseAway(0);
      }
      const { acknowledged, problems, ...counts } = await expectExact();
      if (isLong) console.log(JSON.stringify({ ...counts, recoveries }, null, 2));
    },
    LONG_MS + 600_000,
  );
});
