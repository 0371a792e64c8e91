import { BoundedMap } from '../../kernel/bounded-map.js';
import type { Postgres } from '../../platform/postgres/index.js';
import {
  addExcludedDimensions,
  type ExcludedDimension,
  HISTORY_FRESH_MS,
  type KnownExclusion,
  readExcludedDimensions,
} from '../storage/index.js';

/** Stores excluded dimensions permanently. */
export interface ExcludedDimensionStore {
  /** Returns excluded dimensions by project. */
  load(projectIds: readonly string[]): Promise<ReadonlyMap<string, readonly KnownExclusion[]>>;
  /** Adds dimensions; they are committed when it returns. */
  add(dimensions: readonly ExcludedDimension[]): Promise<void>;
}

export interface RollupDimensionsOptions {
  readonly store: ExcludedDimensionStore;
  /** A clock that never goes back. */
  readonly nowMs: () => number;
  /**
   * For how long after its commit a dimension is still summed by, because readers may learn of the commit only then.
   */
  readonly delayMs?: number;
  readonly combinationsMax?: number;
  readonly windowEvents?: number;
  readonly projectsMax?: number;
}

interface Scope {
  readonly tenantId: string;
  readonly projectId: string;
}

/**
 * Upper bound of the different combinations of all dimensions' values, within a window of events, for which sums are
 * still worth it.
 */
const COMBINATIONS_MAX = 5_000;
const WINDOW_EVENTS = 100_000;
/** Readers of history learn of a dimension in a fraction of this; the rest is for statements that wait to start. */
const DELAY_MS = 6 * HISTORY_FRESH_MS;
/** Upper bound of the cached projects; one that was dropped is read again. */
const PROJECTS_MAX = 1_000;

const NONE: readonly string[] = [];
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * Keeps rollups small: decides which dimensions of an event they leave out. When the events of a project have too many
 * different combinations of values, the dimension with the most values is left out of its sums from then on; its events
 * keep it. Decisions are based on estimates (32-bit hashes, counted anew in every window), but no sum depends on them:
 * each row states what was left out of it.
 */
export class RollupDimensions {
  readonly #options: RollupDimensionsOptions;
  readonly #projects: BoundedMap<string, ProjectDimensions>;
  #decided: ExcludedDimension[] = [];

  constructor(options: RollupDimensionsOptions) {
    this.#options = options;
    this.#projects = new BoundedMap(options.projectsMax ?? PROJECTS_MAX);
  }

  /**
   * Call it before a batch: reads the excluded dimensions of its projects, and commits what earlier batches have
   * decided.
   */
  async prepare(scopes: Iterable<Scope>): Promise<void> {
    const { store, delayMs = DELAY_MS, nowMs } = this.#options;
    // Decisions that are made while these are committed wait for the next call.
    const decided = [...this.#decided];
    if (decided.length > 0) {
      await store.add(decided);
      this.#decided = this.#decided.filter((dimension) => !decided.includes(dimension));
      const fromMs = nowMs() + delayMs;
      for (const { projectId, name } of decided) this.#projects.get(projectId)?.leaveOut(name, fromMs);
    }
    const unknown = new Map<string, Scope>();
    for (const scope of scopes) {
      const known = this.#projects.get(scope.projectId);
      if (known === undefined) unknown.set(scope.projectId, scope);
      else known.apply(nowMs());
    }
    if (unknown.size === 0) return;
    const committed = await store.load([...unknown.keys()]);
    for (const { tenantId, projectId } of unknown.values()) {
      const decide = (name: string) => this.#decided.push({ tenantId, projectId, name });
      const project = new ProjectDimensions(this.#options, decide);
      // Readers may not know yet what another process has just committed.
      for (const { name, ageMs } of committed.get(projectId) ?? []) {
        project.leaveOut(name, nowMs() + delayMs - ageMs);
      }
      project.apply(nowMs());
      this.#projects.set(projectId, project);
    }
  }

  /** Returns the names of those of the event's dimensions that it is not summed by. */
  excludedDimensionsOf(projectId: string, dimensions: ReadonlyMap<string, string>): readonly string[] {
    if (dimensions.size === 0) return NONE;
    return this.#projects.get(projectId)?.add(dimensions) ?? NONE;
  }
}

/** Returns the dimensions of a process that writes rows. */
export function createRollupDimensions({ db }: Pick<Postgres, 'db'>): RollupDimensions {
  return new RollupDimensions({
    store: {
      load: (projectIds) => readExcludedDimensions(db, projectIds),
      add: (dimensions) => addExcludedDimensions(db, dimensions),
    },
    nowMs: () => performance.now(),
  });
}

class ProjectDimensions {
  readonly #decide: (name: string) => void;
  readonly #leftOut = new Set<string>();
  /** Committed dimensions, with the time from which on they are left out. */
  readonly #waiting = new Map<string, number>();
  /** Decided and perhaps not committed yet; not decided on again. */
  readonly #decided = new Set<string>();
  readonly #combinationsMax: number;
  readonly #windowEvents: number;
  readonly #combinations = new Set<number>();
  /** Hashes of each dimension's values in this window. */
  readonly #values = new Map<string, Set<number>>();
  #events = 0;

  constructor(
    { combinationsMax = COMBINATIONS_MAX, windowEvents = WINDOW_EVENTS }: RollupDimensionsOptions,
    decide: (name: string) => void,
  ) {
    this.#decide = decide;
    this.#combinationsMax = combinationsMax;
    this.#windowEvents = windowEvents;
  }

  leaveOut(name: string, fromMs: number): void {
    this.#decided.add(name);
    this.#waiting.set(name, fromMs);
  }

  apply(nowMs: number): void {
    for (const [name, fromMs] of this.#waiting) {
      if (fromMs > nowMs) continue;
      this.#waiting.delete(name);
      this.#leftOut.add(name);
    }
  }

  add(dimensions: ReadonlyMap<string, string>): readonly string[] {
    let excludedDimensions: string[] | undefined;
    let combination = FNV_OFFSET;
    for (const [name, value] of dimensions) {
      if (this.#leftOut.size > 0 && this.#leftOut.has(name)) {
        excludedDimensions ??= [];
        excludedDimensions.push(name);
      } else if (this.#decided.size === 0 || !this.#decided.has(name)) {
        combination = hash(value, combination);
      }
    }
    if (!this.#combinations.has(combination)) this.#addCombination(combination, dimensions);
    if (++this.#events >= this.#windowEvents) this.#startWindow();
    return excludedDimensions ?? NONE;
  }

  #addCombination(combination: number, dimensions: ReadonlyMap<string, string>): void {
    this.#combinations.add(combination);
    for (const [name, value] of dimensions) {
      if (this.#leftOut.has(name) || this.#decided.has(name)) continue;
      let values = this.#values.get(name);
      if (values === undefined) {
        values = new Set();
        this.#values.set(name, values);
      }
      values.add(hash(value, FNV_OFFSET));
    }
    if (this.#combinations.size <= this.#combinationsMax) return;
    let most = '';
    for (const [name, { size }] of this.#values) {
      if (size > (this.#values.get(most)?.size ?? 0)) most = name;
    }
    this.#decided.add(most);
    this.#decide(most);
    this.#startWindow();
  }

  #startWindow(): void {
    this.#events = 0;
    this.#combinations.clear();
    this.#values.clear();
  }
}

/** FNV-1a over UTF-16 units, with an end mark that no text contains, so that adjacent texts cannot be confused. */
function hash(text: string, seed: number): number {
  let value = seed;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), FNV_PRIME);
  return Math.imul(value ^ 0x1_0000, FNV_PRIME);
}
