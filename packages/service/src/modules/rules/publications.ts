import { BoundedMap } from '../../kernel/bounded-map.js';
import type { Clock } from '../../kernel/clock.js';
import type { ProjectScope } from '../../kernel/scope.js';

/**
 * Whether events may be sent to a rule set.
 * - `published`: a version was published and the rule set is not archived.
 * - `unpublished`: it is a draft, or archived.
 * - `absent`: it does not exist in this project.
 */
export type Publication = 'published' | 'unpublished' | 'absent';

/** A rule set archived on another node is refused here after this time at the latest. */
export const PUBLISHED_FRESH_MS = 1_000;
/**
 * An entry that is still used at this age is renewed in the background. If it were read only after it has expired, all
 * requests of that moment would read it, each by itself, and wait for every connection of the pool.
 */
const RENEWED_AFTER_MS = PUBLISHED_FRESH_MS / 2;
/** Upper bound of the rule sets cached as published; beyond it the one that was read longest ago is read again. */
export const PUBLISHED_CACHED_MAX = 20_000;

/** Reads the rule sets of that project; an absent one may be left out. */
export type ReadPublications = (
  owner: ProjectScope,
  ruleSetIds: readonly string[],
) => Promise<ReadonlyMap<string, Publication>>;

/**
 * Returns whether a rule set accepts events, for ingest. Only `published` is cached, and only briefly: a publication is
 * effective for the very next event on every node, because any other state is always read.
 */
export class RuleSetPublications {
  readonly #readStore: ReadPublications;
  readonly #clock: Clock;
  /** When each was read, in milliseconds of the clock. */
  readonly #readAtMs = new BoundedMap<string, number>(PUBLISHED_CACHED_MAX);
  readonly #renewing = new Set<string>();
  /** By project: rule sets to read again, in one query, once the current code has finished. */
  readonly #due = new Map<string, string[]>();
  /** Rises with every `forget`, so that a read that began before it is not cached after it. */
  #generation = 0;

  constructor(readStore: ReadPublications, clock: Clock) {
    this.#readStore = readStore;
    this.#clock = clock;
  }

  /**
   * Whether the rule set is known to be published, without waiting; false means unknown. An ageing entry is
   * renewed in the background.
   */
  isKnownPublished(owner: ProjectScope, ruleSetId: string): boolean {
    const key = keyOf(owner, ruleSetId);
    const readAtMs = this.#readAtMs.get(key);
    if (readAtMs === undefined) return false;
    const ageMs = this.#clock.nowMs() - readAtMs;
    // An entry from the future is not trusted: the clock was set back.
    if (ageMs < 0 || ageMs >= PUBLISHED_FRESH_MS) return false;
    if (ageMs >= RENEWED_AFTER_MS && !this.#renewing.has(key)) this.#renewSoon(owner, ruleSetId);
    return true;
  }

  /** Reads from the store, in one query. */
  async read(owner: ProjectScope, ruleSetIds: readonly string[]): Promise<ReadonlyMap<string, Publication>> {
    const generation = this.#generation;
    // Taken before the read, because the result may be that old when it arrives.
    const readAtMs = this.#clock.nowMs();
    const found = await this.#readStore(owner, ruleSetIds);
    if (generation === this.#generation) this.#remember(owner, found, readAtMs);
    return found;
  }

  /** Makes a change on this node effective here at once. Call it after the change is committed. */
  forget(owner: ProjectScope, ruleSetId: string): void {
    this.#generation += 1;
    this.#readAtMs.delete(keyOf(owner, ruleSetId));
  }

  #renewSoon(owner: ProjectScope, ruleSetId: string): void {
    this.#renewing.add(keyOf(owner, ruleSetId));
    const due = this.#due.get(owner.projectId);
    if (due !== undefined) {
      due.push(ruleSetId);
      return;
    }
    const ruleSetIds = [ruleSetId];
    this.#due.set(owner.projectId, ruleSetIds);
    queueMicrotask(() => {
      this.#due.delete(owner.projectId);
      void this.#renew(owner, ruleSetIds);
    });
  }

  async #renew(owner: ProjectScope, ruleSetIds: readonly string[]): Promise<void> {
    try {
      const found = await this.read(owner, ruleSetIds);
      for (const id of ruleSetIds) if (found.get(id) !== 'published') this.#readAtMs.delete(keyOf(owner, id));
    } catch {
      // Known values stay fresh for their time; a caller that reads them later gets the error.
    } finally {
      for (const id of ruleSetIds) this.#renewing.delete(keyOf(owner, id));
    }
  }

  #remember(owner: ProjectScope, found: ReadonlyMap<string, Publication>, readAtMs: number): void {
    for (const [ruleSetId, publication] of found) {
      if (publication === 'published') this.#readAtMs.set(keyOf(owner, ruleSetId), readAtMs);
    }
  }
}

/** Project ids are unique across all tenants, and no id contains a line break. */
function keyOf({ projectId }: ProjectScope, ruleSetId: string): string {
  return `${projectId}\n${ruleSetId}`;
}
