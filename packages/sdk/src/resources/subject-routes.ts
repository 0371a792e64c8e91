import type {
  CreateSubjectRouteBody,
  DirectLimit,
  DirectLimitPage,
  LimitRuleInput,
  SavedSubjectRoute,
  SubjectRoute,
  SubjectRouteListQuery,
  SubjectRoutePage,
  UpdateDirectLimitBody,
  UpdateSubjectRouteBody,
} from '#contract';
import type { ProjectTransport } from '../project-transport.js';
import { type PageOptions, path } from '../transport.js';

/** The account that pays for a subject, the limit plan that applies to it, and its direct limits. */
export class SubjectRoutes {
  readonly #transport: ProjectTransport;

  constructor(transport: ProjectTransport) {
    this.#transport = transport;
  }

  create(route: CreateSubjectRouteBody): Promise<SavedSubjectRoute> {
    return this.#transport.post('/subject-routes', route);
  }

  /** Newest first; only those that fit every filter. */
  list(query: SubjectRouteListQuery = {}): Promise<SubjectRoutePage> {
    return this.#transport.get('/subject-routes', query);
  }

  get(routeId: string): Promise<SubjectRoute> {
    return this.#transport.get(path`/subject-routes/${routeId}`);
  }

  /** Changes the given fields only; `usage_limit_plan_id: null` removes the limit plan. */
  update(routeId: string, change: UpdateSubjectRouteBody): Promise<SavedSubjectRoute> {
    return this.#transport.put(path`/subject-routes/${routeId}`, change);
  }

  /** With its direct limits; account, usage and ledger stay. */
  delete(routeId: string): Promise<void> {
    return this.#transport.delete(path`/subject-routes/${routeId}`);
  }

  createLimit(routeId: string, limit: LimitRuleInput): Promise<DirectLimit> {
    return this.#transport.post(path`/subject-routes/${routeId}/limits`, limit);
  }

  limits(routeId: string, page: PageOptions = {}): Promise<DirectLimitPage> {
    return this.#transport.get(path`/subject-routes/${routeId}/limits`, page);
  }

  limit(routeId: string, limitId: string): Promise<DirectLimit> {
    return this.#transport.get(path`/subject-routes/${routeId}/limits/${limitId}`);
  }

  /** Changes the given fields only. */
  updateLimit(routeId: string, limitId: string, change: UpdateDirectLimitBody): Promise<DirectLimit> {
    return this.#transport.put(path`/subject-routes/${routeId}/limits/${limitId}`, change);
  }

  deleteLimit(routeId: string, limitId: string): Promise<void> {
    return this.#transport.delete(path`/subject-routes/${routeId}/limits/${limitId}`);
  }
}
