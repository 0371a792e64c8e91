import { memoized } from '../../kernel/maps.js';
import type { ProjectScope } from '../../kernel/scope.js';
import type { CountedItem } from '../rules/index.js';
import { type CountedOwner, type Counter, counterKey, counterOf, ownerText } from './counter.js';
import type { CounterPeriod } from './counter-period.js';

/** A counter, with its periods that a transaction has met. */
export interface KnownCounter {
  readonly counter: Counter;
  readonly key: Buffer;
  /** In no order; they do not overlap. */
  readonly periods: CounterPeriod[];
}

/** The counters of one project that transactions have met. */
export class ProjectCounters {
  /** By the text of owner and dimension values. Few counters share one, and one look-up finds all of an event. */
  readonly #counters = new Map<string, KnownCounter[]>();
  #size = 0;

  constructor(readonly scope: ProjectScope) {}

  /** How many counters there are. */
  get size(): number {
    return this.#size;
  }

  /** Returns the counters of an event's items; undefined for one per account if the event has no account. */
  of(items: readonly CountedItem[], owner: CountedOwner): (KnownCounter | undefined)[] {
    let text: string | undefined;
    let sharing: KnownCounter[] = [];
    return items.map((item) => {
      const ofItem = ownerText(item, owner);
      if (ofItem !== text) sharing = memoized(this.#counters, ofItem, () => []);
      text = ofItem;
      return sharing.find((known) => isCounterOf(known.counter, item)) ?? this.#add(item, owner, sharing);
    });
  }

  #add(item: CountedItem, owner: CountedOwner, sharing: KnownCounter[]): KnownCounter | undefined {
    const counter = counterOf(this.scope, item, owner);
    if (counter === undefined) return undefined;
    const added = { counter, key: counterKey(counter), periods: [] };
    sharing.push(added);
    this.#size += 1;
    return added;
  }
}

function isCounterOf({ ruleSetId, definition }: Counter, item: CountedItem): boolean {
  return definition.name === item.counter.name && ruleSetId === item.ruleSetId;
}

/**
 * Upper bound of the counters that a memory keeps; one takes about 700 bytes, and more with values. A project that
 * exceeds it alone is read again by each batch.
 */
const REMEMBERED_COUNTERS_MAX = 50_000;

/**
 * The counters of projects as the last batch of a worker has written them, so that the next batch need not read them.
 *
 * Each transaction that writes counters of a project stores a new random id of their state, under the lock of the
 * project's slot. A batch that reads under this lock the id of the state that it finds here knows that nobody has
 * changed a counter since, and that the transaction which wrote it was committed.
 */
export class CounterMemory {
  /** By project id, the least recently used first. */
  readonly #states = new Map<string, { readonly stateId: string; readonly counters: ProjectCounters }>();
  #size = 0;

  /**
   * Takes the counters of a project out of the memory: the caller will change them. Returns none if the state that is
   * stored is another one.
   */
  take(scope: ProjectScope, stateId: string | undefined): ProjectCounters {
    const known = this.#states.get(scope.projectId);
    if (known !== undefined) this.#drop(scope.projectId);
    return known?.stateId === stateId && known !== undefined
      ? known.counters
      : new ProjectCounters({ tenantId: scope.tenantId, projectId: scope.projectId });
  }

  /** Remembers the counters of a project as they are in a state that was just written, and may still be rolled back. */
  keep(stateId: string, counters: ProjectCounters): void {
    const { projectId } = counters.scope;
    this.#drop(projectId);
    this.#states.set(projectId, { stateId, counters });
    this.#size += counters.size;
    for (const oldest of this.#states.keys()) {
      if (this.#size <= REMEMBERED_COUNTERS_MAX) break;
      this.#drop(oldest);
    }
  }

  #drop(projectId: string): void {
    this.#size -= this.#states.get(projectId)?.counters.size ?? 0;
    this.#states.delete(projectId);
  }
}
