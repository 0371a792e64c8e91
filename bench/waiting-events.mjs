// A tenant whose events wait in the queue, as ingest appends them.
import { rawEventHex } from '../packages/service/dist/kernel/id.js';
import {
  BATCH_EVENTS,
  batchBody,
  PAYLOAD,
  pricedByTotal,
  RequestTemplate,
  RULE_SET,
  SUBJECTS,
} from './events.mjs';
import { insertLimits } from './limits.mjs';

const TENANT_ID = 'ten_bench';
const RULE_SET_ID = 'ers_00000000000000000000000000000000';
const RUN_ID = 'run';
const OCCURRED_AT = Math.floor(Date.now() / 1000);

/**
 * Makes `count` projects with a published rule set. With `limits` 1 every event is counted against five limits of its
 * subject under one route; with 2 each of 10,000 subjects has a route of its own. With `totals` prices depend on the
 * totals of each subject's month.
 */
export async function createWaitingProjects(postgres, count, limits, totals = 0) {
  const { name: _name, effective_from: _from, ...config } = totals === 0 ? RULE_SET : pricedByTotal(RULE_SET);
  const projects = [];
  await postgres.pool.query(`insert into tenants values ($1, $1, 0)`, [TENANT_ID]);
  for (let index = 0; index < count; index++) {
    const { rows } = await postgres.pool.query(
      `insert into projects (tenant_id, id, name, kind, storage, created_at) values ($1, $2, $2, 'release', 'shared', 0) returning no`,
      [TENANT_ID, `prj_${index}`],
    );
    projects.push({
      tenantId: TENANT_ID,
      projectId: `prj_${index}`,
      projectNo: rows[0].no,
      storage: 'shared',
    });
  }
  await postgres.pool.query(
    `insert into rule_sets (tenant_id, project_id, id, kind, created_at) select tenant_id, id, $1, 'extractor', 0 from projects`,
    [RULE_SET_ID],
  );
  await postgres.pool.query(
    `insert into rule_set_versions
      (tenant_id, project_id, rule_set_id, version, effective_from, config, created_at, published_at)
    select tenant_id, id, $1, 1, 1, $2, 0, 0 from projects`,
    [RULE_SET_ID, JSON.stringify(config)],
  );
  if (limits > 0)
    for (const project of projects) await insertLimits(postgres, project, routedSubjects(limits));
  return projects;
}

/** Returns the subjects that get a route: `*`, or every subject. */
function routedSubjects(limits) {
  if (limits === 1) return ['*'];
  return Array.from({ length: SUBJECTS }, (_, index) => `user-${String(index).padStart(5, '0')}`);
}

/**
 * Queues `events` new events as ingest does, with `bodies` requests of `requestEvents` in each segment.
 *
 * @returns the next sequence number
 */
export async function queueEvents(quotas, projects, { first, events, bodies, requestEvents = BATCH_EVENTS }) {
  const template = new RequestTemplate(
    '/',
    [],
    batchBody(RUN_ID, RULE_SET_ID, { ...PAYLOAD, batchEvents: requestEvents }),
  );
  const bodyAt = template.buffer.indexOf('\r\n\r\n') + 4;
  let sequence = first;
  let records = [];
  while (sequence < first + events) {
    const project = projects[(sequence / requestEvents) % projects.length];
    const body = Buffer.from(template.stamp(sequence, OCCURRED_AT).subarray(bodyAt));
    const ids = Array.from({ length: requestEvents }, (_, index) =>
      rawEventHex(
        TENANT_ID,
        project.projectId,
        OCCURRED_AT,
        `${RUN_ID}-${String(sequence + index).padStart(12, '0')}`,
      ),
    );
    const scope = { kind: 'batch', ...project, extractorRuleSetId: null };
    records.push({
      scope,
      receivedAtMs: Date.now(),
      eventCount: requestEvents,
      ids: Buffer.from(ids.join(''), 'hex'),
      body,
    });
    sequence += requestEvents;
    if (records.length === bodies || sequence >= first + events) {
      await quotas.appendWithinQuota(records.map((record) => ({ record, monthlyEventLimit: -1 })));
      records = [];
    }
  }
  return sequence;
}
