import { randomUUID } from 'node:crypto';
import { present } from '../../kernel/present.js';
import type { Postgres } from '../postgres/index.js';
import { hasEnded, processName } from '../process-identity.js';
import { resultWithin } from '../wait.js';
import { pause, retryPauseMs, Wakeup } from '../wakeup.js';
import {
  expireProcesses,
  freeLeases,
  joinKinds,
  type KindCount,
  leaveKinds,
  type Membership,
  memberProcesses,
  type ProcessLease,
  removeExpired,
  renewMemberships,
  takeLeases,
} from './lease-store.js';

/** With this expiry, and the interval and the time-out below, a lost process is replaced within 15 s. */
const EXPIRY_MS = 10_000;
const RENEW_INTERVAL_MS = 3_000;
/** Interval while other processes still have to free numbers for this one. */
const SHORT_INTERVAL_MS = 300;
const RENEW_TIMEOUT_MS = 5_000;
/** A round removes lost members, takes numbers and reads the result; another round may follow. */
const ROUNDS_MAX = 4;

/** A kind of work whose numbers are shared out. */
export interface LeasedKind {
  readonly kind: string;
  /** Returns how many numbers the kind has now: 0 to `count()` - 1. */
  readonly count: () => number | Promise<number>;
}

export interface ProcessLeasesOptions {
  readonly postgres: Pick<Postgres, 'db'>;
  /** Identifies the owner: a random id, with which the application name of its connections ends. */
  readonly owner?: string;
  readonly kinds: readonly LeasedKind[];
  readonly log: { warn(details: object, message: string): void };
  /** Called after a renewal that changed the held numbers, or whether this process is standby. */
  readonly onChange?: () => void;
  /** Monotonic milliseconds. */
  readonly nowMs?: () => number;
}

/**
 * Shares out the numbers of some kinds of work among all processes that take part. Each number has one owner at a time
 * by the clock of the database, and the members have equally many of them, give or take one. With more members than
 * numbers, the last ones are standby.
 *
 * A process that stops renewing loses its leases: its connections are ended, and others take its numbers. When it
 * resumes, `held` returns nothing until it has joined again, and the epochs of its old leases are out of date.
 */
export class ProcessLeases {
  readonly owner: string;
  readonly #options: ProcessLeasesOptions;
  readonly #nowMs: () => number;
  readonly #wakeup = new Wakeup();
  #held: readonly ProcessLease[] = [];
  #states: readonly Membership[] = [];
  #counts: readonly KindCount[] = [];
  #validUntilMs = Number.NEGATIVE_INFINITY;
  /** From then on other members that have expired are removed. */
  #removesFromMs = Number.POSITIVE_INFINITY;
  #hasJoined = false;
  #reported = '';
  readonly #takeovers = new Map<string, number>();

  constructor(options: ProcessLeasesOptions) {
    this.owner = options.owner ?? randomUUID();
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
  }

  /** Returns the numbers of a kind that this process has; none if it could not renew them in time. */
  held(kind: string): readonly ProcessLease[] {
    if (this.#nowMs() >= this.#validUntilMs) return [];
    return this.#held.filter((lease) => lease.kind === kind);
  }

  /** Returns how many numbers a kind had at the last renewal. */
  count(kind: string): number {
    return present(
      this.#counts.find((known) => known.kind === kind),
      'a kind of leases',
    ).count;
  }

  /** Returns whether this process has no number of a kind, because there are more members than numbers. */
  isStandby(kind: string): boolean {
    const state = this.#states.find((known) => known.kind === kind);
    return state !== undefined && state.held.length === 0 && this.#targetOf(state) === 0;
  }

  /** Returns how many leases of a kind this process has freed because it found their owner lost. */
  takeovers(kind: string): number {
    return this.#takeovers.get(kind) ?? 0;
  }

  /** Looks for changes now, instead of at the next renewal. */
  notify(): void {
    this.#wakeup.notify();
  }

  /** Renews until `signal` aborts, then releases everything; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      try {
        await resultWithin(
          this.renew(),
          RENEW_TIMEOUT_MS,
          () => new Error('PostgreSQL did not reply in time'),
        );
        failures = 0;
        await this.#wakeup.wait(this.#isComplete() ? RENEW_INTERVAL_MS : SHORT_INTERVAL_MS, signal);
      } catch (err) {
        if (!signal.aborted) this.#options.log.warn({ err }, 'process leases could not be renewed');
        await pause(Math.min(retryPauseMs(++failures), RENEW_INTERVAL_MS), signal);
      }
    }
    await this.release().catch((err: unknown) => {
      this.#options.log.warn(
        { err },
        'process leases could not be released; other processes take them when they expire',
      );
    });
  }

  /** Renews once: joins if necessary, replaces lost members, and takes or frees numbers up to the fair share. */
  async renew(): Promise<void> {
    const counts = this.#options.kinds.map(async ({ kind, count }) => ({ kind, count: await count() }));
    this.#counts = await Promise.all(counts);
    if (!this.#hasJoined) await this.#join();
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const states = await this.#renewOnce();
      let isChanged = false;
      if (states.every(({ isMember }) => isMember)) {
        for (const [index, state] of states.entries()) {
          if (await this.#adjust(present(this.#counts[index], 'a kind of leases'), state)) isChanged = true;
        }
      } else {
        await this.#join();
        isChanged = true;
      }
      if (!isChanged) break;
    }
    const state = JSON.stringify([this.#held, this.#counts.map(({ kind }) => this.isStandby(kind))]);
    if (state === this.#reported) return;
    this.#reported = state;
    this.#options.onChange?.();
  }

  /** Frees all numbers for the others, and ends the membership. */
  async release(): Promise<void> {
    this.#held = [];
    this.#hasJoined = false;
    await leaveKinds(this.#options.postgres.db, this.owner);
  }

  /** Joins. Members that ended without leaving, as after a crash, are replaced at once if they ran on this machine. */
  async #join(): Promise<void> {
    const { db } = this.#options.postgres;
    const ended = (await memberProcesses(db, this.#counts)).filter(hasEnded);
    if (ended.length > 0) await expireProcesses(db, ended);
    await joinKinds(db, this.owner, this.#counts, processName(process.pid), EXPIRY_MS);
    this.#hasJoined = true;
    this.#letOthersRenew();
  }

  /**
   * Removes nobody for one expiry. While PostgreSQL cannot be reached, all members expire, and the first that renews
   * must not take the others for lost.
   */
  #letOthersRenew(): void {
    this.#removesFromMs = this.#nowMs() + EXPIRY_MS;
  }

  async #renewOnce(): Promise<readonly Membership[]> {
    const startedMs = this.#nowMs();
    const states = await renewMemberships(this.#options.postgres.db, this.owner, this.#counts, EXPIRY_MS);
    // The database sets the expiry after this time, so the leases last at least as long there.
    this.#validUntilMs = startedMs + EXPIRY_MS;
    if (states.some(({ hadExpired }) => hadExpired)) this.#letOthersRenew();
    this.#states = states;
    this.#held = states.flatMap(({ held }) => held.filter((lease) => lease.number < this.count(lease.kind)));
    return states;
  }

  /** Returns whether anything may have changed. */
  async #adjust(kind: KindCount, state: Membership): Promise<boolean> {
    const { db } = this.#options.postgres;
    const which = this.#nowMs() >= this.#removesFromMs ? 'expired' : 'ended';
    if (state[which] > 0) {
      await this.#removeExpired(kind.kind, which);
      return true;
    }
    const target = this.#targetOf(state);
    const kept = state.held.filter(({ number }) => number < kind.count).slice(0, target);
    const surplus = state.held.filter((lease) => !kept.includes(lease));
    if (surplus.length > 0) {
      this.#held = this.#held.filter((lease) => !surplus.includes(lease));
      await freeLeases(
        db,
        this.owner,
        kind.kind,
        surplus.map(({ number }) => number),
      );
      return true;
    }
    if (kept.length >= target || state.free === 0) return false;
    await takeLeases(db, this.owner, kind, target - kept.length);
    return true;
  }

  async #removeExpired(kind: string, which: 'expired' | 'ended'): Promise<void> {
    const lost = await removeExpired(this.#options.postgres.db, this.owner, kind, which);
    if (lost.length === 0) return;
    this.#takeovers.set(kind, this.takeovers(kind) + lost.length);
    const numbers = lost.map(({ number }) => number);
    const owners = [...new Set(lost.map(({ owner }) => owner))];
    this.#options.log.warn(
      { kind, owners, numbers },
      'a process stopped renewing its leases; other processes take them',
    );
  }

  /** Returns the fair share of this member. The members that joined first get the extra numbers. */
  #targetOf({ kind, members, before }: Membership): number {
    const count = this.count(kind);
    return Math.floor(count / members) + (before < count % members ? 1 : 0);
  }

  #isComplete(): boolean {
    return this.#states.every((state) => this.#heldCount(state.kind) >= this.#targetOf(state));
  }

  #heldCount(kind: string): number {
    return this.#held.filter((lease) => lease.kind === kind).length;
  }
}
