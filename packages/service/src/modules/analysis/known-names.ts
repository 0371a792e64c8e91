import { BoundedMap } from '../../kernel/bounded-map.js';
import type { ProjectRef } from '../../kernel/scope.js';
import { KNOWN_NAMES_MAX, type UsedNames } from './known-names-store.js';
import { QueryQueue } from './query-queue.js';

/** Upper bound of the projects whose names are cached, the most recently read ones. */
const PROJECTS_MAX = 100;
/** After this time at the latest a name of new usage is known. */
const FRESH_MS = 10_000;

interface Read {
  readonly atMs: number;
  readonly names: Promise<UsedNames>;
}

/** The kinds of names in a request that are checked. */
export type NameKind = keyof UsedNames;

/** Those of some names that no usage of the project has, and the names that its usage has. */
export interface UnknownNames {
  readonly names: readonly string[];
  readonly known: readonly string[];
}

const NONE_UNKNOWN: UnknownNames = { names: [], known: [] };

export interface KnownNamesOptions {
  readonly read: (project: ProjectRef) => Promise<UsedNames>;
  /** A clock that never goes back. */
  readonly monotonicMs?: () => number;
}

/**
 * The metrics, dimensions and subject types of projects' usage. One read serves all callers for a while. Tenants and
 * projects take turns with reads, as with analysis queries. The reads do not wait behind these, because saving a chart
 * or a limit waits for them.
 */
export class KnownNames {
  readonly #options: KnownNamesOptions;
  readonly #queue = new QueryQueue();
  readonly #reads = new BoundedMap<string, Read>(PROJECTS_MAX);
  readonly #monotonicMs: () => number;

  constructor(options: KnownNamesOptions) {
    this.#options = options;
    this.#monotonicMs = options.monotonicMs ?? (() => performance.now());
  }

  /**
   * Returns those of the names that no usage of the project has; none while the history cannot be read, or too many
   * reads wait, because the request that is checked has been saved by then.
   */
  async unknown(project: ProjectRef, kind: NameKind, names: readonly string[]): Promise<UnknownNames> {
    if (names.length === 0) return NONE_UNKNOWN;
    const known = (await this.#namesOf(project).catch(() => undefined))?.[kind];
    if (known === undefined || known.length >= KNOWN_NAMES_MAX) return NONE_UNKNOWN;
    return { names: names.filter((name) => !known.includes(name)), known };
  }

  #namesOf(project: ProjectRef): Promise<UsedNames> {
    const { projectId } = project;
    const earlier = this.#reads.get(projectId);
    const nowMs = this.#monotonicMs();
    if (earlier !== undefined && nowMs - earlier.atMs < FRESH_MS) return earlier.names;
    const names = this.#queue.run(project, 'names', () => this.#options.read(project));
    const read = { atMs: nowMs, names };
    this.#reads.set(projectId, read);
    // After a failure the next caller reads again.
    read.names.catch(() => {
      if (this.#reads.get(projectId) === read) this.#reads.delete(projectId);
    });
    return read.names;
  }
}
