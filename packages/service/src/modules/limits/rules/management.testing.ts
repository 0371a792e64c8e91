import type { LimitRuleInput } from '@tollgate/contract';
import type { Postgres } from '../../../platform/postgres/index.js';
import { everythingAdmitted } from '../../../testing/admission.js';
import { type Answer, createTestApi, type TestApi } from '../../../testing/api.js';
import type { LimitAdmission } from './admission.js';
import { createApiCatalog, type LimitCatalog } from './index.js';
import { createLimitManagement } from './management.js';
import { registerLimitManagementRoutes } from './management-routes.js';

/** A node with the management of limits, and helpers for what tests start with. */
export interface ManagementApi extends TestApi {
  /** The catalog of the node. */
  readonly catalog: LimitCatalog;
  /** The URL of the project, without a slash at the end. */
  readonly url: string;
  /** Sends a request below the project and expects this status. */
  must(
    status: number,
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: object | string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<ReturnType<Answer['json']>>;
  /** Creates a plan with these rules; returns its id. */
  makePlan(rules?: readonly LimitRuleInput[], published?: boolean): Promise<string>;
  makeRoute(body?: object): Promise<{ readonly id: string; readonly account_id: string }>;
}

/** A subject type without usage. */
export const UNKNOWN_SUBJECT_TYPE = 'typo';

export async function createManagementApi(
  admission: LimitAdmission = everythingAdmitted,
): Promise<ManagementApi> {
  const otherSubjectTypes = async (_: unknown, type: string) =>
    type === UNKNOWN_SUBJECT_TYPE ? ['user', 'type'] : undefined;
  // Cached for ever: it forgets only because of changes that are made on this node.
  const catalog = createApiCatalog(() => 0);
  const api = await createTestApi((app, { postgres, clock }) =>
    registerLimitManagementRoutes(
      app,
      createLimitManagement({ postgres, clock, catalog, admission, otherSubjectTypes }),
    ),
  );
  const url = `/v1/projects/${api.projectId}`;
  const must: ManagementApi['must'] = async (status, method, path, body, headers) => {
    const answer = await api.call(method, `${url}${path}`, body, undefined, headers);
    if (answer.status !== status) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.text === '' ? undefined : answer.json();
  };
  let made = 0;
  return {
    ...api,
    catalog,
    url,
    must,
    makePlan: async (rules = [], published = true) => {
      made += 1;
      const body = { name: `plan-${made}`, title: `Plan ${made}`, rules };
      const { id } = await must(201, 'POST', '/usage-limit-plans', body);
      if (published) await must(200, 'POST', `/usage-limit-plans/${id}/publish`);
      return id;
    },
    makeRoute: async (body = {}) => {
      made += 1;
      const subject = { subject_type: 'user', subject_id: `u${made}` };
      return must(201, 'POST', '/subject-routes', { ...subject, ...body });
    },
  };
}

/** A monthly limit on all usage in USD, with the given changes. */
export function ruleOf(change: Partial<LimitRuleInput> = {}): LimitRuleInput {
  return {
    limit_key: 'spend',
    measure: 'amount',
    selector_type: 'all',
    selector_value: '',
    currency: 'USD',
    period: 'month',
    limit_amount: '100',
    action: 'block',
    ...change,
  };
}

/** Actions and resources of the audit log, oldest first. */
export async function auditedActions({ db }: Postgres): Promise<(readonly [string, unknown])[]> {
  const rows = await db
    .selectFrom('audit_log')
    .select(['action', 'change'])
    .where('action', 'not like', 'tenant.%')
    .where('action', 'not like', 'project.%')
    .orderBy('id')
    .execute();
  return rows.map(({ action, change }) => [action, change] as const);
}
