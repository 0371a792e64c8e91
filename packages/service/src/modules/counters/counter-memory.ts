import { memoized } from '../../kernel/maps.js';
import type { CountedItem } from '../rules/index.js';
import {
  type CountedOwner,
  type CountedProject,
  type Counter,
  counterKey,
  counterOf,
  ownerText,
} from './counter.js';
import type { CounterPeriod } from './counter-period.js';

/** A counter, with its periods that a transaction has met. */
export interface KnownCounter {
  readonly counter: Counter;
  readonly key: Buffer;
  /** In no order; they do not overlap. */
  readonly periods: CounterPeriod[];
  /** Whether the transaction of now has met it. */
  isMet: boolean;
}

/** Upper bound of the periods of a counter that are remembered. A counter of a minute has 1,440 of them a day. */
const REMEMBERED_PERIODS_MAX = 4;

/** The counters of one project that transactions have met. */
export class ProjectCounters {
  /**
   * Those of subjects without dimensions, by type and id: most are of this kind, and need no text to be found. Few
   * counters share an owner, and one look-up finds all of an event.
   */
  readonly #ofSubjects = new Map<string, Map<string, KnownCounter[]>>();
  /** The others, by the text of owner and dimension values. */
  readonly #others = new Map<string, KnownCounter[]>();
  #size = 0;
  /** The counters that the transaction of now has met. */
  #met: KnownCounter[] = [];

  constructor(readonly scope: CountedProject) {}

  /** How many counters there are. */
  get size(): number {
    return this.#size;
  }

  /** Returns the counters of an event's items; undefined for one per account if the event has no account. */
  of(items: readonly CountedItem[], owner: CountedOwner): (KnownCounter | undefined)[] {
    const found: (KnownCounter | undefined)[] = [];
    let former: CountedItem | undefined;
    let sharing: KnownCounter[] = [];
    for (const item of items) {
      const isSame = former?.by === item.by && former.counter.per === item.counter.per;
      if (!isSame) sharing = this.#sharing(item, owner);
      former = item;
      const known = counterIn(sharing, item) ?? this.#add(item, owner, sharing);
      found.push(known);
      if (known === undefined || known.isMet) continue;
      known.isMet = true;
      this.#met.push(known);
    }
    return found;
  }

  /** Forgets all but the last periods of each counter that a transaction has met, when it has written them. */
  forgetPeriods(): void {
    for (const known of this.#met) {
      const { periods } = known;
      if (periods.length > REMEMBERED_PERIODS_MAX) periods.splice(0, periods.length - REMEMBERED_PERIODS_MAX);
      known.isMet = false;
    }
    this.#met = [];
  }

  /** Returns the counters that may be that of an item: they differ in rule set and name. */
  #sharing(item: CountedItem, owner: CountedOwner): KnownCounter[] {
    if (item.counter.per !== 'subject' || item.by.length > 0)
      return memoized(this.#others, ownerText(item, owner), () => []);
    const { type = '', id = '' } = owner.subject ?? {};
    return memoized(
      memoized(this.#ofSubjects, type, () => new Map<string, KnownCounter[]>()),
      id,
      () => [],
    );
  }

  #add(item: CountedItem, owner: CountedOwner, sharing: KnownCounter[]): KnownCounter | undefined {
    const counter = counterOf(this.scope, item, owner);
    if (counter === undefined) return undefined;
    const added = { counter, key: counterKey(counter), periods: [], isMet: false };
    sharing.push(added);
    this.#size += 1;
    return added;
  }
}

function counterIn(counters: readonly KnownCounter[], item: CountedItem): KnownCounter | undefined {
  for (const known of counters) {
    const { definition, ruleSetId } = known.counter;
    if (definition.name === item.counter.name && ruleSetId === item.ruleSetId) return known;
  }
  return undefined;
}

/**
 * Upper bound of the counters that a memory keeps; one takes about 900 bytes, and 500 more for each further period. A
 * project that exceeds it alone is read again by each batch.
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
  take({ tenantId, projectId, projectNo }: CountedProject, stateId: string | undefined): ProjectCounters {
    const known = this.#states.get(projectId);
    if (known !== undefined) this.#drop(projectId);
    return known?.stateId === stateId && known !== undefined
      ? known.counters
      : new ProjectCounters({ tenantId, projectId, projectNo });
  }

  /** Remembers the counters of a project as they are in a state that was just written, and may still be rolled back. */
  keep(stateId: string, counters: ProjectCounters): void {
    const { projectId } = counters.scope;
    counters.forgetPeriods();
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
