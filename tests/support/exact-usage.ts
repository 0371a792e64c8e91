import { expect } from 'vitest';
import type { TestClickHouse } from '../../packages/service/src/testing/index.js';
import type { ReplicatedPostgres } from '../../packages/service/src/testing/replicated-postgres.js';
import { created } from './http.js';
import type { AcknowledgedEvent } from './load-process.js';
import {
  createSampleProject,
  INPUT_PRICE,
  OUTPUT_PRICE,
  type SampleProject,
  type ServiceAddress,
} from './sample-project.js';

/** Amounts are compared as whole numbers of this part of a USD, in which both prices are whole. */
const PARTS_PER_USD = 10_000_000;
const partsOf = (price: string) => BigInt(Math.round(Number(price) * PARTS_PER_USD));

/** Creates a project whose usage is debited to one wallet, and counted against a limit of each subject. */
export async function createChargedProject(service: ServiceAddress): Promise<SampleProject> {
  const project = await createSampleProject(service);
  const routes = `/v1/projects/${project.projectId}/subject-routes`;
  const options = (body: object) => ({ key: project.key, body });
  const route = await created(service, routes, options({ subject_type: 'customer', subject_id: '*' }));
  await created(
    service,
    `${routes}/${route.id}/limits`,
    options({
      limit_key: 'spend',
      measure: 'amount',
      selector_type: 'all',
      currency: 'USD',
      period: 'lifetime',
      limit_amount: '1000000',
      action: 'block',
    }),
  );
  return project;
}

/** Both stores, to which a test looks past the service. */
interface StoresOfProject {
  readonly servers: ReplicatedPostgres;
  readonly clickhouse: TestClickHouse;
}

/**
 * Expects that a project has exactly these events, each once: by ids in ClickHouse, and by the totals, the wallet, the
 * ledger and the windows in PostgreSQL, whose standby has been promoted.
 */
export async function expectExactUsage(
  { servers, clickhouse }: StoresOfProject,
  { projectId }: SampleProject,
  events: readonly AcknowledgedEvent[],
): Promise<void> {
  const rows = await clickhouse.clickhouse.query<{ id: string; idempotency_key: string; copies: string }>(
    `SELECT lower(hex(raw_event_id)) AS id, idempotency_key, toString(count()) AS copies FROM usage_events
    WHERE project_id = {projectId:String} GROUP BY id, idempotency_key ORDER BY id`,
    { projectId },
  );
  const stored = rows.map(({ id, idempotency_key: key, copies }) => `evt_${id} ${key} ${copies}`);
  expect(stored).toEqual(events.map(([key, id]) => `${id} ${key} 1`).sort());
  const tokens = events.reduce((sum, [, , each]) => sum + BigInt(each), 0n);
  const parts = String(tokens * partsOf(INPUT_PRICE) + BigInt(events.length) * partsOf(OUTPUT_PRICE));
  const [items] = await clickhouse.clickhouse.query<object>(
    `SELECT toString(sum(arraySum(item.amount)) * ${PARTS_PER_USD}) AS parts FROM usage_events
    WHERE project_id = {projectId:String}`,
    { projectId },
  );
  expect(items).toEqual({ parts });
  const [totals] = await servers.query(
    'standby',
    `select (select sum(processed_count) from usage_event_totals ${of(projectId)})::text as events,
      (select sum(failed_count) from usage_event_totals ${of(projectId)})::text as failed,
      (select sum(quantity) from usage_totals ${of(projectId)} and metric = 'llm.input_tokens')::text as tokens,
      ${inParts(`select sum(amount) from usage_totals ${of(projectId)}`)} as parts,
      ${inParts(`select -sum(balance) from wallets ${of(projectId)}`)} as debited,
      ${inParts(`select sum(amount) from ledger_entries ${of(projectId)} and ledger_account = 'usage'`)} as posted,
      ${inParts(`select sum(used) from limit_windows where project_no = (select no from projects where id = '${projectId}')`)} as used`,
  );
  expect(totals).toEqual({
    events: String(events.length),
    failed: '0',
    tokens: String(tokens),
    parts,
    debited: parts,
    posted: parts,
    used: parts,
  });
}

const of = (projectId: string) => `where project_id = '${projectId}'`;
const inParts = (query: string) => `trim_scale((${query}) * ${PARTS_PER_USD})::text`;
