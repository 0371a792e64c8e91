import type { ProjectScope } from '../../kernel/scope.js';

type Work = () => Promise<void>;

/**
 * Runs a bounded number of works at once, and one of each project. Tenants take turns, and so do the projects of each:
 * a tenant that runs less goes first, so what one tenant has waiting, in however many projects, delays others no longer
 * than the work that runs.
 */
export class FairTurns {
  readonly #runningMax: number;
  /** By tenant and project; both take turns in the order in which they came to wait. */
  readonly #waiting = new Map<string, Map<string, Work[]>>();
  /** The tenants of the projects that run something. */
  readonly #running = new Map<string, string>();

  constructor(runningMax: number) {
    this.#runningMax = runningMax;
  }

  /** Runs `work` when it is its turn; returns or throws as `work` does. */
  run<T>({ tenantId, projectId }: ProjectScope, work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const ofTenant = this.#waiting.get(tenantId) ?? new Map<string, Work[]>();
      this.#waiting.set(tenantId, ofTenant);
      const waiting = ofTenant.get(projectId) ?? [];
      ofTenant.set(projectId, waiting);
      waiting.push(() => work().then(resolve, reject));
      this.#begin();
    });
  }

  #begin(): void {
    while (this.#running.size < this.#runningMax) {
      const next = this.#next();
      if (next === undefined) return;
      const work = this.#take(next);
      this.#running.set(next.projectId, next.tenantId);
      void work().finally(() => {
        this.#running.delete(next.projectId);
        this.#begin();
      });
    }
  }

  /** Returns the next project of the first of the tenants that run least. */
  #next(): ProjectScope | undefined {
    let next: ProjectScope | undefined;
    let leastRunning = Number.POSITIVE_INFINITY;
    for (const [tenantId, projects] of this.#waiting) {
      const running = [...this.#running.values()].filter((each) => each === tenantId).length;
      if (running >= leastRunning) continue;
      for (const projectId of projects.keys()) {
        if (this.#running.has(projectId)) continue;
        next = { tenantId, projectId };
        leastRunning = running;
        break;
      }
    }
    return next;
  }

  /** Takes the first work of a project, which is then at the end of the line again, and so is its tenant. */
  #take({ tenantId, projectId }: ProjectScope): Work {
    const ofTenant = this.#waiting.get(tenantId);
    const waiting = ofTenant?.get(projectId);
    const work = waiting?.shift();
    if (ofTenant === undefined || waiting === undefined || work === undefined) {
      throw new Error('nothing of the project waits');
    }
    ofTenant.delete(projectId);
    if (waiting.length > 0) ofTenant.set(projectId, waiting);
    this.#waiting.delete(tenantId);
    if (ofTenant.size > 0) this.#waiting.set(tenantId, ofTenant);
    return work;
  }
}
