import type {
  CreateLimitRaiseBody,
  CreateSubjectRouteBody,
  DirectLimit,
  DirectLimitPage,
  LimitRaise,
  LimitRaisePage,
  LimitRuleInput,
  SavedSubjectRoute,
  SubjectRoute,
  SubjectRouteListQuery,
  SubjectRoutePage,
  UpdateDirectLimitBody,
  UpdateSubjectRouteBody,
} from '#contract';
import type { CallOptions, PathTransport, WriteOptions } from '../path-transport.js';
import { type PageOptions, path } from '../transport.js';

/** The account that pays for a subject, the limit plan that applies to it, and its direct limits. */
export class SubjectRoutes {
  readonly #transport: PathTransport;

  constructor(transport: PathTransport) {
    this.#transport = transport;
  }

  create(route: CreateSubjectRouteBody, options?: CallOptions): Promise<SavedSubjectRoute> {
    return this.#transport.post('/subject-routes', route, options);
  }

  /** Newest first; only those that match every filter. */
  list(query: SubjectRouteListQuery = {}, options?: CallOptions): Promise<SubjectRoutePage> {
    return this.#transport.get('/subject-routes', query, options);
  }

  get(routeId: string, options?: CallOptions): Promise<SubjectRoute> {
    return this.#transport.get(path`/subject-routes/${routeId}`, {}, options);
  }

  /** Changes the given fields only; `usage_limit_plan_id: null` removes the limit plan, `parent: null` the parent. */
  update(routeId: string, change: UpdateSubjectRouteBody, options?: CallOptions): Promise<SavedSubjectRoute> {
    return this.#transport.put(path`/subject-routes/${routeId}`, change, options);
  }

  /** Deletes a route with its direct limits; account, usage and ledger stay. */
  delete(routeId: string, options?: CallOptions): Promise<void> {
    return this.#transport.delete(path`/subject-routes/${routeId}`, options);
  }

  createLimit(routeId: string, limit: LimitRuleInput, options?: CallOptions): Promise<DirectLimit> {
    return this.#transport.post(path`/subject-routes/${routeId}/limits`, limit, options);
  }

  limits(routeId: string, page: PageOptions = {}, options?: CallOptions): Promise<DirectLimitPage> {
    return this.#transport.get(path`/subject-routes/${routeId}/limits`, page, options);
  }

  limit(routeId: string, limitId: string, options?: CallOptions): Promise<DirectLimit> {
    return this.#transport.get(path`/subject-routes/${routeId}/limits/${limitId}`, {}, options);
  }

  /** Changes the given fields only. */
  updateLimit(
    routeId: string,
    limitId: string,
    change: UpdateDirectLimitBody,
    options?: CallOptions,
  ): Promise<DirectLimit> {
    return this.#transport.put(path`/subject-routes/${routeId}/limits/${limitId}`, change, options);
  }

  deleteLimit(routeId: string, limitId: string, options?: CallOptions): Promise<void> {
    return this.#transport.delete(path`/subject-routes/${routeId}/limits/${limitId}`, options);
  }

  /** Raises a limit of the route for a time. */
  raise(routeId: string, raise: CreateLimitRaiseBody, options?: WriteOptions): Promise<LimitRaise> {
    return this.#transport.post(path`/subject-routes/${routeId}/raises`, raise, options);
  }

  raises(routeId: string, page: PageOptions = {}, options?: CallOptions): Promise<LimitRaisePage> {
    return this.#transport.get(path`/subject-routes/${routeId}/raises`, page, options);
  }

  /** Ends a raise before its time. */
  endRaise(routeId: string, raiseId: string, options?: CallOptions): Promise<void> {
    return this.#transport.delete(path`/subject-routes/${routeId}/raises/${raiseId}`, options);
  }
}
