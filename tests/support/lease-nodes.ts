import { expect } from 'vitest';
import {
  createTestClickHouse,
  createTestPostgres,
  type TestClickHouse,
  type TestPostgres,
} from '../../packages/service/src/testing/index.js';
import { type Answer, call, created } from './http.js';
import { createSampleProject, type SampleProject } from './sample-project.js';
import { type RunningService, startService } from './service.js';

/** `TOLLGATE_LEASES=many npm test -- tests/budget-lease` is the long version of the tests of leases. */
export const isLongLeaseTest = process.env.TOLLGATE_LEASES === 'many';
const CLIENTS = 64;
const KILLS = isLongLeaseTest ? 20 : 4;
const LOOKS_PER_KILL = 5;

/** Two nodes and a worker on one database, whose first node is never killed. Subjects are of the type `customer`. */
export class LeaseNodes {
  /** Services that are being killed and started again. */
  readonly #down = new Set<RunningService>();
  readonly sample: SampleProject;
  /** The path of the project. */
  readonly project: string;

  private constructor(
    readonly postgres: TestPostgres,
    readonly clickhouse: TestClickHouse,
    readonly nodes: readonly [RunningService, RunningService],
    readonly worker: RunningService,
    sample: SampleProject,
  ) {
    this.sample = sample;
    this.project = `/v1/projects/${sample.projectId}`;
  }

  static async start(): Promise<LeaseNodes> {
    const postgres = await createTestPostgres();
    const clickhouse = await createTestClickHouse();
    const env = { TOLLGATE_DATABASE_URL: postgres.connectionString, TOLLGATE_CLICKHOUSE_URL: clickhouse.url };
    const start = (roles: string) =>
      startService({ args: ['serve', '--roles', roles], env, startsEmpty: true });
    // The first one migrates, the others find it done.
    const first = await start('api');
    const nodes = [first, await start('api')] as const;
    return new LeaseNodes(
      postgres,
      clickhouse,
      nodes,
      await start('worker'),
      await createSampleProject(first),
    );
  }

  async stop(): Promise<void> {
    for (const service of [...this.nodes, this.worker]) await service.stop();
    await this.clickhouse.drop();
    await this.postgres.drop();
  }

  /** Undefined when the connection broke: that is what a kill looks like from outside. */
  async ask(
    node: RunningService,
    method: string,
    path: string,
    body?: object,
    idempotencyKey?: string,
  ): Promise<Answer | undefined> {
    try {
      const options = { key: this.sample.key, idempotencyKey, ...(body === undefined ? {} : { body }) };
      return await call(node, method, this.project + path, options);
    } catch {
      return undefined;
    }
  }

  /** Creates a subject with one limit over its lifetime; without a parent, with a prepaid wallet of ten times that. */
  async makeSubject(subjectId: string, limit: number, parentId?: string): Promise<void> {
    const [node] = this.nodes;
    const { project } = this;
    const options = (body: object) => ({ key: this.sample.key, body });
    const parent =
      parentId === undefined ? {} : { parent: { subject_type: 'customer', subject_id: parentId } };
    const route = await created(
      node,
      `${project}/subject-routes`,
      options({ subject_type: 'customer', subject_id: subjectId, ...parent }),
    );
    await created(
      node,
      `${project}/subject-routes/${route.id}/limits`,
      options({
        limit_key: 'budget',
        measure: 'amount',
        selector_type: 'all',
        currency: 'USD',
        period: 'lifetime',
        limit_amount: String(limit),
        action: 'block',
      }),
    );
    if (parentId !== undefined) return;
    const wallet = `${project}/accounts/${route.account_id}/wallets/USD`;
    expect((await call(node, 'PUT', wallet, options({ mode: 'prepaid' }))).status).toBe(200);
    await created(node, `${wallet}/adjustments`, options({ amount: String(limit * 10), reason: 'test' }));
  }

  /**
   * Many clients at once, each with its node or, while that is down, with the one that never is, until `next` has no
   * more for them.
   */
  async manyClients(next: () => ((node: RunningService) => Promise<void>) | undefined): Promise<void> {
    const client = async (node: RunningService) => {
      for (let work = next(); work !== undefined; work = next()) {
        await work(this.#down.has(node) ? this.nodes[0] : node);
      }
    };
    const { nodes } = this;
    await Promise.all(
      Array.from({ length: CLIENTS }, (_, index) => client(nodes[index % nodes.length] ?? nodes[0])),
    );
  }

  /** Kills and restarts processes in turn and looks in between until the load is over. Returns the kills during it. */
  async killInTurn(
    targets: readonly RunningService[],
    look: () => Promise<void>,
    isOver: () => boolean,
  ): Promise<number> {
    let killsDuringLoad = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      for (let count = 0; count < LOOKS_PER_KILL; count += 1) await look();
      const target = targets[kill % targets.length] as RunningService;
      this.#down.add(target);
      if (!isOver()) killsDuringLoad += 1;
      await target.crash('service');
      await look();
      await target.start();
      this.#down.delete(target);
    }
    while (!isOver()) await look();
    return killsDuringLoad;
  }
}

/** The body of a request for a lease of 1 USD. */
export const oneDollarLease = (subjectId: string, ttlSeconds: number) => ({
  subject_type: 'customer',
  subject_id: subjectId,
  amount: '1',
  currency: 'USD',
  ttl_seconds: ttlSeconds,
});
