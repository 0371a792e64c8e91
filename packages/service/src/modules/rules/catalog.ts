import type { PublishedVersion, RuleSetRef } from './catalog-store.js';

/** What the catalog reads. */
export interface CatalogSource {
  readRevisions(
    refs: readonly RuleSetRef[],
  ): Promise<readonly (RuleSetRef & { readonly revision: number })[]>;
  readPublishedVersions(refs: readonly RuleSetRef[]): Promise<readonly PublishedVersion[]>;
}

/** Rule sets kept in memory, beyond which only those of the batch at hand are. */
const RULE_SETS_CACHED_MAX = 1_000;

/**
 * The published rules, for workers: refreshed once per batch, then asked without waiting. Versions never change, so
 * what was compiled is kept for as long as its rule set is; it is compiled when it is first needed.
 */
export class RuleCatalog<Compiled> {
  /** Least recently refreshed first. */
  private readonly timelines = new Map<string, Timeline<Compiled>>();

  constructor(
    private readonly source: CatalogSource,
    private readonly compile: (version: PublishedVersion) => Compiled,
    private readonly ruleSetsCachedMax = RULE_SETS_CACHED_MAX,
  ) {}

  /**
   * Brings what is known of these rule sets up to date: one narrow read when nothing has changed. Whatever was
   * published before the call is known after it.
   */
  async refresh(refs: readonly RuleSetRef[]): Promise<void> {
    // The revision is read before the versions: if a publish comes between, the next refresh reads them again.
    const revisions = await this.source.readRevisions(refs);
    const stale = revisions.filter((read) => this.timelines.get(keyOf(read))?.revision !== read.revision);
    const versions = stale.length === 0 ? [] : await this.source.readPublishedVersions(stale);
    const versionsByKey = groupByKey(versions);
    for (const ref of revisions) {
      const key = keyOf(ref);
      const known = this.timelines.get(key);
      this.timelines.delete(key);
      const isFresh = known?.revision === ref.revision;
      this.timelines.set(
        key,
        isFresh ? known : new Timeline(ref.revision, versionsByKey.get(key) ?? [], known),
      );
    }
    this.evict(revisions.length);
  }

  /**
   * The version that rates what happened at `occurredAt` (Unix seconds). Undefined when none was ever published, or
   * the rule set was not in the last `refresh`.
   */
  resolve(projectId: string, ruleSetId: string, occurredAt: number): Compiled | undefined {
    return this.timelines.get(keyOf({ projectId, ruleSetId }))?.compiledAt(occurredAt, this.compile);
  }

  private evict(inUse: number): void {
    const keep = Math.max(this.ruleSetsCachedMax, inUse);
    for (const key of this.timelines.keys()) {
      if (this.timelines.size <= keep) return;
      this.timelines.delete(key);
    }
  }
}

/** The published versions of one rule set. */
class Timeline<Compiled> {
  /** By effective_from, then version, ascending. */
  private readonly ordered: readonly PublishedVersion[];
  private readonly first: PublishedVersion | undefined;
  private readonly compiled: Map<number, Compiled>;

  constructor(
    readonly revision: number,
    versions: readonly PublishedVersion[],
    previous: Timeline<Compiled> | undefined,
  ) {
    this.ordered = versions.toSorted((a, b) => a.effectiveFrom - b.effectiveFrom || a.version - b.version);
    this.first = versions.toSorted((a, b) => a.version - b.version)[0];
    this.compiled = previous?.compiled ?? new Map();
  }

  compiledAt(occurredAt: number, compile: (version: PublishedVersion) => Compiled): Compiled | undefined {
    const version = this.inForceAt(occurredAt);
    if (version === undefined) return undefined;
    let compiled = this.compiled.get(version.version);
    if (compiled === undefined) {
      compiled = compile(version);
      this.compiled.set(version.version, compiled);
    }
    return compiled;
  }

  /**
   * The version with the greatest effective_from not after `occurredAt`, the higher version of equal ones; before
   * all of them, the version that was published first.
   */
  private inForceAt(occurredAt: number): PublishedVersion | undefined {
    let low = 0;
    let high = this.ordered.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.ordered[middle]?.effectiveFrom ?? Number.POSITIVE_INFINITY) <= occurredAt) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? this.first : this.ordered[low - 1];
  }
}

function groupByKey(versions: readonly PublishedVersion[]): Map<string, PublishedVersion[]> {
  const groups = new Map<string, PublishedVersion[]>();
  for (const version of versions) {
    const key = keyOf(version);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [version]);
    else group.push(version);
  }
  return groups;
}

/** No id holds a line break. */
function keyOf({ projectId, ruleSetId }: RuleSetRef): string {
  return `${projectId}\n${ruleSetId}`;
}
