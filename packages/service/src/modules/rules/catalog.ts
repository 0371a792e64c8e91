import { type PublishedRules, type RulesInForce, RuleTimeline } from './timeline.js';

/** An extractor rule set as events name it; ids of projects are unique over all tenants. */
export interface RuleSetRef {
  readonly projectId: string;
  readonly ruleSetId: string;
}

/** The published rules of one extractor rule set. */
export type RulesRead = RuleSetRef & PublishedRules;

/** What the catalog reads. */
export interface CatalogSource {
  readRevisions(
    refs: readonly RuleSetRef[],
  ): Promise<readonly (RuleSetRef & { readonly revision: number })[]>;
  /** A rule set without any published version may be left out. */
  readPublishedRules(refs: readonly RuleSetRef[]): Promise<readonly RulesRead[]>;
}

/** What is kept in memory, and beyond which only what the batch at hand needs is. */
export interface CatalogBounds {
  readonly ruleSetsMax: number;
  readonly configBytesMax: number;
  /** Of the configs that are compiled: what is compiled takes some thirty times the memory of its text. */
  readonly compiledBytesMax: number;
}

const CATALOG_BOUNDS: CatalogBounds = {
  ruleSetsMax: 1_000,
  configBytesMax: 32 * 1_048_576,
  compiledBytesMax: 16 * 1_048_576,
};

/** Compiles what is in force at one time; it may keep what it has compiled, for versions never change. */
export type CompileRules<Compiled> = (rules: RulesInForce) => Compiled;

/**
 * The published rules, for workers: refreshed once per batch, then asked without waiting. What was compiled is kept for as
 * long as its rule set is; it is compiled when it is first needed.
 */
export class RuleCatalog<Compiled> {
  /** Least recently refreshed first. */
  readonly #entries = new Map<string, Entry<Compiled>>();
  #configBytes = 0;
  #compiledBytes = 0;

  /** @param createCompile called once for each rule set, and again when what was compiled is forgotten */
  constructor(
    private readonly source: CatalogSource,
    private readonly createCompile: () => CompileRules<Compiled>,
    private readonly bounds = CATALOG_BOUNDS,
  ) {}

  /**
   * Brings what is known of these rule sets up to date: one narrow read when nothing has changed. Whatever was published
   * before the call is known after it, pricing included: it advances the revision of what it is bound to.
   */
  async refresh(refs: readonly RuleSetRef[]): Promise<void> {
    // The revision is read before the versions: if a publish comes between, the next refresh reads them again.
    const revisions = await this.source.readRevisions(refs);
    const stale = revisions.filter((read) => this.#entries.get(keyOf(read))?.revision !== read.revision);
    const rules = stale.length === 0 ? [] : await this.source.readPublishedRules(stale);
    const rulesByKey = new Map(rules.map((read) => [keyOf(read), read]));
    for (const ref of revisions) {
      const key = keyOf(ref);
      const known = this.#entries.get(key);
      this.#remove(key);
      if (known?.revision === ref.revision) this.#add(key, known);
      else {
        const compile = known?.compile ?? this.createCompile();
        this.#add(key, new Entry(ref.revision, rulesByKey.get(key) ?? NO_RULES, compile));
      }
    }
    this.#evict(revisions.length);
  }

  /**
   * What rates that which happened at `occurredAt` (Unix seconds). Undefined when no version of the rule set was ever
   * published, or it was not in the last `refresh`.
   */
  resolve(projectId: string, ruleSetId: string, occurredAt: number): Compiled | undefined {
    const entry = this.#entries.get(keyOf({ projectId, ruleSetId }));
    if (entry === undefined) return undefined;
    const interval = entry.timeline.intervalAt(occurredAt);
    return entry.compiledByInterval.get(interval) ?? this.#compile(entry, interval);
  }

  #compile(entry: Entry<Compiled>, interval: number): Compiled | undefined {
    const rules = entry.timeline.inForceDuring(interval);
    if (rules === undefined) return undefined;
    const bytes = bytesOf([rules.extractor]) + bytesOf(rules.pricings);
    if (this.#compiledBytes + bytes > this.bounds.compiledBytesMax) this.#forgetCompiled();
    const compiled = entry.compile(rules);
    entry.compiledByInterval.set(interval, compiled);
    this.#compiledBytes += bytes;
    return compiled;
  }

  /** Rules of many times or tenants take turns: starting anew is rare, and needs no account of who uses what. */
  #forgetCompiled(): void {
    for (const entry of this.#entries.values()) {
      entry.compiledByInterval.clear();
      entry.compile = this.createCompile();
    }
    this.#compiledBytes = 0;
  }

  #add(key: string, entry: Entry<Compiled>): void {
    this.#entries.set(key, entry);
    this.#configBytes += entry.configBytes;
  }

  #remove(key: string): void {
    this.#configBytes -= this.#entries.get(key)?.configBytes ?? 0;
    this.#entries.delete(key);
  }

  #evict(inUse: number): void {
    const { ruleSetsMax, configBytesMax } = this.bounds;
    for (const key of this.#entries.keys()) {
      const { size } = this.#entries;
      if (size <= inUse || (size <= ruleSetsMax && this.#configBytes <= configBytesMax)) return;
      this.#remove(key);
    }
  }
}

const NO_RULES: PublishedRules = { extractors: [], pricings: [] };

/** The rules of one extractor rule set over all time. */
class Entry<Compiled> {
  readonly configBytes: number;
  readonly timeline: RuleTimeline;
  readonly compiledByInterval = new Map<number, Compiled>();

  constructor(
    readonly revision: number,
    rules: PublishedRules,
    public compile: CompileRules<Compiled>,
  ) {
    this.configBytes = bytesOf(rules.extractors) + bytesOf(rules.pricings);
    this.timeline = new RuleTimeline(rules);
  }
}

function bytesOf(versions: readonly { readonly configBytes: number }[]): number {
  return versions.reduce((sum, { configBytes }) => sum + configBytes, 0);
}

/** No id holds a line break. */
function keyOf({ projectId, ruleSetId }: RuleSetRef): string {
  return `${projectId}\n${ruleSetId}`;
}
