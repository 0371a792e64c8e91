import { BoundedMap } from '../../kernel/bounded-map.js';
import { isCausedByValues, isUnavailable } from '../../platform/postgres/index.js';
import { type DeferredTurn, FIRST_TURN } from '../../platform/queue/index.js';
import type { AcceptedEvent } from './event.js';

/** Events in the first turn of a tenant. Few, because slow ones would only be put back. */
const TURN_EVENTS_FIRST = 100;
/** Upper bound of the turns whose bounds are remembered; beyond it the oldest is dropped. */
const TURNS_MAX = 10_000;

/** After a turn that failed because of its events, the next one rates this part of them. */
const FAILED_TURN_PART = 10;

/** A turn after one that failed because of its events. It looks for the event that was the reason. */
export class CarefulTurn {
  readonly #eventsMax: number;
  readonly #givenUpId: string | undefined;
  readonly #ids: string[] = [];

  /**
   * @param eventsMax upper bound of the events that are rated; the rest of their requests is deferred
   * @param givenUpId the event that made the last turn fail although it was alone
   */
  constructor(eventsMax: number, givenUpId?: string) {
    this.#eventsMax = eventsMax;
    this.#givenUpId = givenUpId;
  }

  get isOver(): boolean {
    return this.#ids.length >= this.#eventsMax;
  }

  /** The event of the turn, if it has only one. */
  get onlyId(): string | undefined {
    return this.#ids.length === 1 ? this.#ids[0] : undefined;
  }

  /** Notes that an event is rated next; returns whether it was given up, and becomes a failed event. */
  begin({ idHex }: AcceptedEvent): boolean {
    this.#ids.push(idHex);
    return idHex === this.#givenUpId;
  }

  /** Returns the same turn once more, of which no event is rated yet. */
  again(): CarefulTurn {
    return new CarefulTurn(this.#eventsMax, this.#givenUpId);
  }
}

/** How many events a turn takes. */
export interface TurnBounds {
  /** Upper bound of the events that are claimed, but at least one request. */
  readonly eventsMax: number;
  readonly careful?: CarefulTurn | undefined;
}

/** Chooses which tenant with deferred events has the next turn, and how many events it rates. */
export class DeferredTurns {
  readonly #batchEventsMax: number;
  /** The last turn. */
  after = FIRST_TURN;
  readonly #bounds = new BoundedMap<string, TurnBounds>(TURNS_MAX);

  /** @param eventsMax upper bound for every turn */
  constructor(batchEventsMax: number) {
    this.#batchEventsMax = batchEventsMax;
  }

  /** Returns the bounds of a turn that begins. */
  begin(turn: DeferredTurn): TurnBounds {
    const { eventsMax, careful } = this.#boundsOf(turn);
    return this.#set(turn, eventsMax, careful?.again());
  }

  /**
   * Adjusts the size of the next turn: after a turn that ran out of time, the next one claims no more events than this
   * one rated.
   */
  learn(turn: DeferredTurn, counts: { readonly claimed: number; readonly deferred: number }): void {
    const { eventsMax, careful } = this.#boundsOf(turn);
    const rated = Math.max(1, counts.claimed - counts.deferred);
    const isShort = counts.deferred > 0 && (careful === undefined || rated < eventsMax);
    const next = isShort ? rated : Math.min(this.#batchEventsMax, eventsMax * 2);
    // Other events of the tenant may be like the one that was given up, and a claim has a whole segment.
    const isCareful = careful !== undefined && next < TURN_EVENTS_FIRST;
    this.#set(turn, next, isCareful ? new CarefulTurn(next) : undefined);
  }

  /** Notes that a turn failed because of its events: the next one rates a tenth of them, or gives up the only one. */
  failed(turn: DeferredTurn): void {
    const { eventsMax, careful } = this.#boundsOf(turn);
    const next = Math.max(1, Math.floor(eventsMax / FAILED_TURN_PART));
    this.#set(turn, next, new CarefulTurn(next, careful?.onlyId));
  }

  #set(turn: DeferredTurn, eventsMax: number, careful: CarefulTurn | undefined): TurnBounds {
    const bounds = { eventsMax, careful };
    this.#bounds.set(keyOf(turn), bounds);
    return bounds;
  }

  #boundsOf(turn: DeferredTurn): TurnBounds {
    return this.#bounds.get(keyOf(turn)) ?? { eventsMax: Math.min(TURN_EVENTS_FIRST, this.#batchEventsMax) };
  }
}

function keyOf({ tenantId, shard }: DeferredTurn): string {
  return `${tenantId} ${shard}`;
}

/**
 * Whether a batch has failed because of the events in it, so that it fails again: a value does not fit PostgreSQL, or
 * this code has a bug. Errors of the system and of stores have a code or a cause.
 */
export function isCausedByEvents(error: unknown): boolean {
  if (isCausedByValues(error)) return true;
  if (!(error instanceof Error) || error.cause !== undefined || isUnavailable(error)) return false;
  return (error as { code?: unknown }).code === undefined;
}
