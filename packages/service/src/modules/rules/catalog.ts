import { BoundedMemory } from '../../kernel/bounded-memory.js';
import { type ActiveVersions, type PublishedRules, RuleTimeline } from './timeline.js';

/** An extractor rule set as events name it; project ids are unique across all tenants. */
export interface RuleSetRef {
  readonly projectId: string;
  readonly ruleSetId: string;
}

/** The published versions of one extractor rule set and its prices. */
export type RulesRead = RuleSetRef & PublishedRules;

/** Rules that are ready to rate, and the memory that they take. */
export interface LoadedRules<Compiled> {
  readonly compiled: Compiled;
  /** Size of the configs as JSON. */
  readonly bytes: number;
}

/** The reads that the catalog needs. */
export interface RuleCatalogSource<Compiled> {
  readRevisions(
    refs: readonly RuleSetRef[],
  ): Promise<readonly (RuleSetRef & { readonly revision: number })[]>;
  /** A rule set without any published version may be left out. */
  readPublishedRules(refs: readonly RuleSetRef[]): Promise<readonly RulesRead[]>;
  load(projectId: string, rules: ActiveVersions): Promise<LoadedRules<Compiled>>;
}

/** Upper bounds of the cache; above them, only what the current batch needs is kept. */
export interface CatalogBounds {
  readonly ruleSetsMax: number;
  /** Upper bound of the versions of all rule sets, without their configs. */
  readonly versionsMax: number;
  readonly loadedBytesMax: number;
}

const CATALOG_BOUNDS: CatalogBounds = {
  ruleSetsMax: 1_000,
  versionsMax: 200_000,
  loadedBytesMax: 32 * 1_048_576,
};

/**
 * The published rules, for workers: refreshed once per batch. All versions of a rule set are known, but their
 * configs are read only for the times at which events occurred, however many other versions there are.
 */
export class RuleCatalog<Compiled> {
  readonly #source: RuleCatalogSource<Compiled>;
  readonly #bounds: CatalogBounds;
  /**
   * Least recently refreshed first. No `BoundedMap`, because a second bound counts the versions of all entries, and
   * what the current batch needs is kept beyond both.
   */
  readonly #known = new Map<string, KnownRuleSet<Compiled>>();
  #versionCount = 0;
  readonly #memory: BoundedMemory;

  constructor(source: RuleCatalogSource<Compiled>, bounds: CatalogBounds = CATALOG_BOUNDS) {
    this.#source = source;
    this.#bounds = bounds;
    this.#memory = new BoundedMemory(bounds.loadedBytesMax);
  }

  /**
   * Returns the current state of these rule sets, without those that do not exist. Takes one narrow read when nothing
   * has changed. The result includes each publication before the call, also of prices, because those advance the
   * revision of the rule set to which they are bound.
   */
  async refresh(
    refs: readonly RuleSetRef[],
  ): Promise<(RuleSetRef & { readonly rules: RulesOverTime<Compiled> })[]> {
    // The revision is read before the versions: if a version is published in between, the next refresh reads them
    // again.
    const revisions = await this.#source.readRevisions(refs);
    const stale = revisions.filter((read) => this.#known.get(keyOf(read))?.revision !== read.revision);
    const found = stale.length === 0 ? [] : await this.#source.readPublishedRules(stale);
    const foundByKey = new Map(found.map((read) => [keyOf(read), read]));
    const refreshed = revisions.map((ref) => {
      const key = keyOf(ref);
      const known = this.#known.get(key);
      this.#remove(key);
      const current =
        known?.revision === ref.revision ? known : this.#ruleSetOf(ref, foundByKey.get(key) ?? NO_RULES);
      this.#add(key, current);
      return { projectId: ref.projectId, ruleSetId: ref.ruleSetId, rules: current.rules };
    });
    this.#evict(revisions.length);
    return refreshed;
  }

  #ruleSetOf(
    { projectId, revision }: RuleSetRef & { readonly revision: number },
    published: PublishedRules,
  ): KnownRuleSet<Compiled> {
    const load = (active: ActiveVersions) => this.#source.load(projectId, active);
    const rules = new RulesOverTime(new RuleTimeline(published), load, this.#memory);
    return { revision, rules, versionCount: published.extractors.length + published.pricings.length };
  }

  #add(key: string, ruleSet: KnownRuleSet<Compiled>): void {
    this.#known.set(key, ruleSet);
    this.#versionCount += ruleSet.versionCount;
  }

  #remove(key: string): void {
    this.#versionCount -= this.#known.get(key)?.versionCount ?? 0;
    this.#known.delete(key);
  }

  #evict(inUse: number): void {
    const { ruleSetsMax, versionsMax } = this.#bounds;
    for (const key of this.#known.keys()) {
      const { size } = this.#known;
      if (size <= inUse || (size <= ruleSetsMax && this.#versionCount <= versionsMax)) return;
      this.#remove(key);
    }
  }
}

interface KnownRuleSet<Compiled> {
  readonly revision: number;
  readonly rules: RulesOverTime<Compiled>;
  readonly versionCount: number;
}

const NO_RULES: PublishedRules = { extractors: [], pricings: [] };

/** The published rules of one extractor rule set over all time, at one moment. A holder may keep using it. */
export class RulesOverTime<Compiled> {
  readonly #timeline: RuleTimeline;
  readonly #load: (rules: ActiveVersions) => Promise<LoadedRules<Compiled>>;
  readonly #memory: BoundedMemory;
  readonly #byInterval = new Map<number, Compiled>();

  constructor(
    timeline: RuleTimeline,
    load: (rules: ActiveVersions) => Promise<LoadedRules<Compiled>>,
    memory: BoundedMemory,
  ) {
    this.#timeline = timeline;
    this.#load = load;
    this.#memory = memory;
  }

  /**
   * Returns the rules for events that occurred at `occurredAt` (Unix seconds): directly when they are in
   * memory, otherwise as a promise. Undefined when no version of the rule set was ever published.
   */
  at(occurredAt: number): Compiled | undefined | Promise<Compiled> {
    const interval = this.#timeline.intervalAt(occurredAt);
    const known = this.#byInterval.get(interval);
    if (known !== undefined) return known;
    const rules = this.#timeline.activeDuring(interval);
    return rules === undefined ? undefined : this.#loadInterval(interval, rules);
  }

  async #loadInterval(interval: number, rules: ActiveVersions): Promise<Compiled> {
    const { compiled, bytes } = await this.#load(rules);
    this.#byInterval.set(interval, compiled);
    this.#memory.add({ bytes, forget: () => this.#byInterval.delete(interval) });
    return compiled;
  }
}

/** An id contains no line break, so the key is unambiguous. */
function keyOf({ projectId, ruleSetId }: RuleSetRef): string {
  return `${projectId}\n${ruleSetId}`;
}
