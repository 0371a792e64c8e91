import type { MaybePromise } from './maybe-promise.js';

/** The tenant and the project that a query or a change is confined to. */
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
  /** The project of that tenant, or of any tenant when none is named; undefined when there is none. */
  resolveProject(projectId: string, tenantId?: string): MaybePromise<ProjectRef | undefined>;
}
