import { BoundedMap } from '../../kernel/bounded-map.js';
import type { ProjectRef, ProjectResolver } from '../../kernel/scope.js';

/** Returns a project by its id, in one tenant or in any. */
export type FindProject = (projectId: string, tenantId?: string) => Promise<ProjectRef | undefined>;

const PROJECT_ID = /^prj_[0-9a-f]{32}$/;
const PROJECTS_CACHED_MAX = 100_000;

export interface ProjectResolverOptions {
  readonly findProject: FindProject;
  /** Whether tenants may move to another cell. */
  readonly mayMove?: boolean;
}

/**
 * Caches projects for ever, because they never change. A project that is not found is looked up each time, and so is
 * one of another tenant, so that the response time reveals nothing. If tenants may move, so is one that is requested
 * without its tenant, because nothing has checked yet that the tenant is still here.
 */
export class CachedProjectResolver implements ProjectResolver {
  readonly #findProject: FindProject;
  readonly #mayMove: boolean;
  readonly #projects = new BoundedMap<string, ProjectRef>(PROJECTS_CACHED_MAX);
  readonly #flights = new Map<string, Promise<ProjectRef | undefined>>();

  constructor({ findProject, mayMove = false }: ProjectResolverOptions) {
    this.#findProject = findProject;
    this.#mayMove = mayMove;
  }

  resolveProject(
    projectId: string,
    tenantId?: string,
  ): ProjectRef | undefined | Promise<ProjectRef | undefined> {
    const known = this.#projects.get(projectId);
    if (known !== undefined && (tenantId === undefined ? !this.#mayMove : known.tenantId === tenantId))
      return known;
    if (!PROJECT_ID.test(projectId)) return undefined;
    const flightKey = `${tenantId ?? ''}/${projectId}`;
    const running = this.#flights.get(flightKey);
    if (running !== undefined) return running;
    const flight = this.#findProject(projectId, tenantId)
      .then((project) => {
        if (project !== undefined) this.#projects.set(project.projectId, project);
        return project;
      })
      .finally(() => this.#flights.delete(flightKey));
    this.#flights.set(flightKey, flight);
    return flight;
  }
}
