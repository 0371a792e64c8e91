import type {
  CreateUsageLimitPlanBody,
  UpdateUsageLimitPlanBody,
  UsageLimitPlan,
  UsageLimitPlanDetail,
  UsageLimitPlanListQuery,
  UsageLimitPlanPage,
  UsageLimitPlanVersion,
  UsageLimitPlanVersionPage,
} from '#contract';
import type { ProjectTransport } from '../project-transport.js';
import { type PageOptions, path } from '../transport.js';

/** Limits that subjects share: drafts, and immutable revisions. */
export class UsageLimitPlans {
  readonly #transport: ProjectTransport;

  constructor(transport: ProjectTransport) {
    this.#transport = transport;
  }

  create(plan: CreateUsageLimitPlanBody): Promise<UsageLimitPlan> {
    return this.#transport.post('/usage-limit-plans', plan);
  }

  /** The newest published version of each plan or, without one, its draft. */
  list(query: UsageLimitPlanListQuery = {}): Promise<UsageLimitPlanPage> {
    return this.#transport.get('/usage-limit-plans', query);
  }

  /** Returns the plan with its active and its draft version. */
  get(planId: string): Promise<UsageLimitPlanDetail> {
    return this.#transport.get(path`/usage-limit-plans/${planId}`);
  }

  versions(planId: string, page: PageOptions = {}): Promise<UsageLimitPlanVersionPage> {
    return this.#transport.get(path`/usage-limit-plans/${planId}/versions`, page);
  }

  /** Changes the draft, or opens one; what is published stays in force. */
  update(planId: string, change: UpdateUsageLimitPlanBody): Promise<UsageLimitPlanDetail> {
    return this.#transport.put(path`/usage-limit-plans/${planId}`, change);
  }

  publish(planId: string): Promise<UsageLimitPlanVersion> {
    return this.#transport.post(path`/usage-limit-plans/${planId}/publish`);
  }

  archive(planId: string): Promise<UsageLimitPlan> {
    return this.#transport.post(path`/usage-limit-plans/${planId}/archive`);
  }

  restore(planId: string): Promise<UsageLimitPlan> {
    return this.#transport.post(path`/usage-limit-plans/${planId}/restore`);
  }
}
