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
 * One that is still used at this age is read again while it is in use. Were it read when it is no longer fresh,
 * all requests of that moment would read it, each for itself: they would take every connection of the pool, and
 * wait.
 */
const RENEWED_AFTER_MS = PUBLISHED_FRESH_MS / 2;
/** Rule sets remembered as published; past it the one that was read longest ago is read again. */
export const PUBLISHED_CACHED_MAX = 20_000;

/** Reads the rule sets of that project; an absent one may be left out. */
export type ReadPublications = (
  owner: ProjectScope,
  ruleSetIds: readonly string[],
) => Promise<ReadonlyMap<string, Publication>>;

/**
 * Tells ingest whether a rule set takes events. Only `published` is remembered, and only briefly: a publish is
 * effective for the very next event on every node, because anything else is always read.
 */
export class RuleSetPublications {
  readonly #readStore: ReadPublications;
  readonly #clock: Clock;
  /** When each was read, in milliseconds of the clock. */
  readonly #readAtMs = new BoundedMap<string, number>(PUBLISHED_CACHED_MAX);
  readonly #renewing = new Set<string>();
  /** By project: what is to be read again, in one query, when the code that asks now has come to its end. */
  readonly #due = new Map<string, string[]>();
  /** Rises with every `forget`, so that a read that began before it is not remembered after it. */
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
    // Nothing is trusted that seems to come from later: the clock was set back.
    if (ageMs < 0 || ageMs >= PUBLISHED_FRESH_MS) return false;
    if (ageMs >= RENEWED_AFTER_MS && !this.#renewing.has(key)) this.#renewSoon(owner, ruleSetId);
    return true;
  }

  /** Asks the store, in one query. */
  async read(owner: ProjectScope, ruleSetIds: readonly string[]): Promise<ReadonlyMap<string, Publication>> {
    const generation = this.#generation;
    // Measured from before the read: the answer may be that old when it arrives.
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

/** Ids of projects are unique over all tenants, and no id holds a line break. */
function keyOf({ projectId }: ProjectScope, ruleSetId: string): string {
  return `${projectId}\n${ruleSetId}`;
}
