import { expect } from 'vitest';
import type { ProcessIdentity } from '../../packages/service/src/platform/process-identity.js';
import { waitFor } from '../../packages/service/src/testing/wait-for.js';
import { Connection } from './connections.js';
import { call } from './http.js';
import { commandOf, descendantsOf } from './process-tree.js';
import type { SampleProject } from './sample-project.js';
import { type RunningService, startService } from './service.js';

export const PROCESSES = 3;
export const CONNECTIONS = 12;
/** Tests share two processor cores with many processes of the service. */
export const SETTLE = { timeoutMs: 180_000 };
const OCCURRED_AT = Math.floor(Date.now() / 1000) - 600;
const INGEST_ROUTE = '/v1/projects/:project_id/extractor-rule-sets/:id/events/ingest';

export const ingestPath = ({ projectId, ruleSetId }: SampleProject) =>
  `/v1/projects/${projectId}/extractor-rule-sets/${ruleSetId}/events/ingest`;

export function eventOf(key: string, prompt = '') {
  const usage = { input_tokens: 10, output_tokens: 1 };
  return {
    idempotency_key: key,
    occurred_at: OCCURRED_AT,
    raw_json: { customer: 'c1', model: 'm', prompt, usage },
  };
}

export const sendEvent = (connection: Connection, project: SampleProject, key: string) =>
  connection.send('POST', ingestPath(project), {
    key: project.key,
    body: { source: 'test', ...eventOf(key) },
  });

/** A service with several accepting processes. */
export class AcceptingService {
  private constructor(readonly service: RunningService) {}

  static async start(): Promise<AcceptingService> {
    return new AcceptingService(await startService({ args: ['serve', '--workers', String(PROCESSES)] }));
  }

  /** Does something on several new connections at once, and closes them. */
  onConnections<T>(work: (connection: Connection, index: number) => Promise<T>): Promise<T[]> {
    return Promise.all(
      Array.from({ length: CONNECTIONS }, async (_, index) => {
        const connection = new Connection(this.service);
        try {
          return await work(connection, index);
        } finally {
          connection.close();
        }
      }),
    );
  }

  /** The accepting processes that run now. */
  processes(): ProcessIdentity[] {
    return descendantsOf(this.service.pid).filter(({ pid }) => commandOf(pid).includes('accepting-process'));
  }

  async statusOf({ projectId, key }: SampleProject) {
    return (await call(this.service, 'GET', `/v1/projects/${projectId}/usage/ingest-status`, { key })).body;
  }

  /** Waits until all accepted events are rated; returns their number without duplicates. */
  async rated(project: SampleProject): Promise<number> {
    await waitFor(async () => (await this.statusOf(project)).pending === 0, SETTLE);
    const { processed, failed } = await this.statusOf(project);
    expect(failed).toBe(0);
    return processed;
  }

  async expectEqualStores(): Promise<void> {
    const { exitCode, output } = await this.service.runCommand(['verify']);
    expect([exitCode, output]).toEqual([0, expect.stringContaining('Everything is equal')]);
  }

  /** Returns the number of single events with a 202, as the metrics show it. */
  async acceptedByMetrics(): Promise<number> {
    const { text } = await call(this.service, 'GET', '/metrics');
    const labels = `method="POST",route="${INGEST_ROUTE}",status="202"`;
    const name = `tollgate_http_request_duration_seconds_count{${labels}} `;
    const line = text.split('\n').find((each) => each.startsWith(name));
    return line === undefined ? 0 : Number(line.slice(name.length));
  }

  async areAllReady(): Promise<boolean> {
    const { body } = await call(this.service, 'GET', '/readyz');
    return body.ready === true && body.checks.accepting_processes === 'ok';
  }
}
