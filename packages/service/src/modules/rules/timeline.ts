import type { PricingPurpose } from '@tollgate/contract';

/** A published version of a rule set; its config is read when it is needed. It never changes. */
export interface PublishedVersion {
  readonly ruleSetId: string;
  readonly version: number;
  /** Unix seconds. */
  readonly effectiveFrom: number;
}

export interface PublishedPricing extends PublishedVersion {
  readonly purpose: PricingPurpose;
  /** When its rule set was archived and stopped pricing; Unix seconds. */
  readonly archivedAt: number | null;
}

/** Everything that was ever published for one extractor rule set. */
export interface PublishedRules {
  readonly extractors: readonly PublishedVersion[];
  /** Published versions of all pricing rule sets that are bound to it. */
  readonly pricings: readonly PublishedPricing[];
}

/** The versions that rate events of one time. */
export interface ActiveVersions {
  readonly extractor: PublishedVersion;
  /** One version of each pricing rule set that has not ended. */
  readonly pricings: readonly PublishedPricing[];
}

/**
 * Which rules are active at which time. Time falls into intervals between the `effective_from`s and the ends of rule
 * sets; the rules are the same within an interval.
 */
export class RuleTimeline {
  /** Where intervals begin, ascending; the first interval lies before all of them. */
  readonly #boundaries: readonly number[];
  readonly #extractor: VersionTimeline<PublishedVersion>;
  readonly #pricings: readonly VersionTimeline<PublishedPricing>[];

  constructor({ extractors, pricings }: PublishedRules) {
    const boundaries = new Set<number>();
    for (const { effectiveFrom } of extractors) boundaries.add(effectiveFrom);
    for (const { effectiveFrom, archivedAt } of pricings) {
      boundaries.add(effectiveFrom);
      if (archivedAt !== null) boundaries.add(archivedAt);
    }
    this.#boundaries = [...boundaries].toSorted((a, b) => a - b);
    this.#extractor = new VersionTimeline(extractors);
    this.#pricings = byRuleSet(pricings).map((versions) => new VersionTimeline(versions));
  }

  /** Returns the interval of a time, counted from 0. */
  intervalAt(occurredAt: number): number {
    return countUpTo(this.#boundaries, occurredAt, (boundary) => boundary);
  }

  /** Returns undefined when no extractor was ever published. */
  activeDuring(interval: number): ActiveVersions | undefined {
    const at = this.#boundaries[interval - 1] ?? Number.NEGATIVE_INFINITY;
    const extractor = this.#extractor.inForceAt(at);
    if (extractor === undefined) return undefined;
    const pricings = this.#pricings.flatMap((versions) => {
      const pricing = versions.inForceAt(at);
      return pricing === undefined || at >= (pricing.archivedAt ?? Number.POSITIVE_INFINITY) ? [] : [pricing];
    });
    return { extractor, pricings };
  }
}

/** The published versions of one rule set. */
class VersionTimeline<Version extends PublishedVersion> {
  /** By effective_from, then version, ascending. */
  readonly #ordered: readonly Version[];
  readonly #first: Version | undefined;

  constructor(versions: readonly Version[]) {
    this.#ordered = versions.toSorted((a, b) => a.effectiveFrom - b.effectiveFrom || a.version - b.version);
    this.#first = versions.toSorted((a, b) => a.version - b.version)[0];
  }

  /**
   * Returns the version with the greatest effective_from not after `at`, the higher version of equal ones; before all
   * of them, the version that was published first.
   */
  inForceAt(at: number): Version | undefined {
    const begun = countUpTo(this.#ordered, at, ({ effectiveFrom }) => effectiveFrom);
    return begun === 0 ? this.#first : this.#ordered[begun - 1];
  }
}

function byRuleSet(pricings: readonly PublishedPricing[]): PublishedPricing[][] {
  const groups = new Map<string, PublishedPricing[]>();
  for (const pricing of pricings) {
    const group = groups.get(pricing.ruleSetId);
    if (group === undefined) groups.set(pricing.ruleSetId, [pricing]);
    else group.push(pricing);
  }
  return [...groups.values()];
}

/** Returns how many of the ascending entries are not after `at`. */
function countUpTo<T>(entries: readonly T[], at: number, timeOf: (entry: T) => number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timeOf(entries[middle] as T) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}
