import type { MaybePromise } from './maybe-promise.js';

/** The tenant and the project to which a query or a change is confined. */
export interface ProjectScope {
  readonly tenantId: string;
  readonly projectId: string;
}

/** A project that exists. Projects never change. */
export interface ProjectRef extends ProjectScope {
  /** Short number of the project, used as an index prefix. */
  readonly projectNo: number;
  readonly kind: 'development' | 'release';
  /** Whether ClickHouse keeps its usage in tables of its own, or in tables shared with other projects. */
  readonly storage: 'shared' | 'dedicated';
}

/** Finds projects by id. */
export interface ProjectResolver {
  /** Returns the project of that tenant or, without a tenant, of any; undefined when there is none. */
  resolveProject(projectId: string, tenantId?: string): MaybePromise<ProjectRef | undefined>;
}
