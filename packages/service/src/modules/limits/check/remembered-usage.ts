import { BoundedMap } from '../../../kernel/bounded-map.js';
import { present } from '../../../kernel/present.js';
import { keyNumber } from '../../../platform/changes/index.js';
import { type WalletKey, walletNumber } from '../../ledger/index.js';
import { subjectNumber } from '../rules/route-rules.js';
import type { Counted } from './limit-status.js';
import type { AskedRule, UsageQuery, UsageRead } from './limit-status-store.js';

/** Upper bound of the subjects and wallets that a process remembers. With the next bound, that is 220 MB at most. */
const REMEMBERED_MAX = 20_000;
/** Upper bound of the windows of one subject; all of them make room for a new one. */
const WINDOWS_MAX = 20;
/** Before everything that is counted. */
const NEVER = 0;
/** Projects are forgotten in so many groups; projects of one group are forgotten together. */
const PROJECT_GROUPS = 4_096;

/** A changed window or wallet takes part in so many looks without being asked for; then it is forgotten. */
const UNASKED_LOOKS_MAX = 5;
/** Upper bound of the windows and wallets that are read again with one look; others that have changed are forgotten. */
const READ_AGAIN_MAX = 1_000;

/** A window or a wallet that is read again, because it has changed. */
export interface AskedPart {
  /** Asks for this window or wallet alone. */
  readonly query: UsageQuery;
  /** Under which it is kept, so that neither is made again for each read. */
  readonly number: number;
  readonly name: string;
  /** How often it was read again since it was last asked for. */
  readonly unasked: number;
}

/** The use of a window, or what is available of a wallet, and when it was read. */
interface Kept {
  /** The query that asked for it; the whole of it takes less memory than a part for each window. */
  readonly query: UsageQuery;
  /** The window, as the query asks for it; undefined for the wallet. */
  readonly rule: AskedRule | undefined;
  unasked: AskedPart['unasked'];
  readonly value: Counted | UsageRead['available'];
  /** The read that returned it. */
  readonly read: UsageRead;
  /** Rises with each read that is kept. */
  readonly keptAt: number;
}

/** The values of the subjects and wallets that share a number; rarely of more than one. */
type KeptByName = Map<string, Kept>;

/**
 * Remembers what a process has read about subjects and wallets, for as long as it is told of every change. Asked again,
 * it returns the values as of one moment, or nothing.
 */
export class RememberedUsage {
  readonly #kept = new BoundedMap<number, KeptByName>(REMEMBERED_MAX);
  /** Counts reads and changes, so that it can be said which came first. */
  #sequence = NEVER;
  /** All that was kept before this is of one moment, that of the changes which were learned last. */
  #settledAt = NEVER;
  /** A read that began before this may lack a change, and is not kept. */
  #changedAt = NEVER;
  /** For each group of projects, when it was forgotten. */
  readonly #forgottenAt = new Array<number>(PROJECT_GROUPS).fill(NEVER);

  /** Returns a mark of the present. Call it before usage or changes are read, and hand it to `keep` or `learn`. */
  mark(): number {
    return this.#sequence;
  }

  /** Keeps what a read returned that began after the mark. */
  keep(query: UsageQuery, read: UsageRead, mark: number): void {
    if (mark < this.#changedAt || mark < this.#forgottenAtOf(query)) return;
    this.#sequence += 1;
    this.#put(query, read, this.#sequence);
  }

  /** Returns what the query asks, as it was at one moment; undefined if a part is missing. */
  recall(query: UsageQuery): UsageRead | undefined {
    const forgottenAt = this.#forgottenAtOf(query);
    let read: UsageRead | undefined;
    let isSettled = true;
    let isOneRead = true;
    const find = (number: number, name: string) => {
      const kept = this.#kept.get(number)?.get(name);
      if (kept === undefined || kept.keptAt < forgottenAt) return undefined;
      kept.unasked = 0;
      read ??= kept.read;
      isOneRead &&= kept.read === read;
      isSettled &&= kept.keptAt <= this.#settledAt;
      return kept;
    };
    const counted: Counted[] = [];
    for (const rule of query.rules) {
      const kept = isRememberable(rule) ? find(numberOf(query, rule), nameOf(query, rule)) : undefined;
      if (kept === undefined) return undefined;
      counted.push(kept.value as Counted);
    }
    const { wallet } = query;
    let available: UsageRead['available'];
    if (wallet !== undefined) {
      const kept = find(walletNumber(wallet), nameOfWallet(wallet));
      if (kept === undefined) return undefined;
      available = kept.value as UsageRead['available'];
    }
    return isSettled || isOneRead ? { counted, available } : undefined;
  }

  /** Returns what is remembered of these keys and worth reading again, because it was asked for lately. */
  askedOf(keys: readonly number[]): AskedPart[] {
    const asked: AskedPart[] = [];
    for (const number of new Set(keys)) {
      for (const [name, kept] of this.#kept.get(number) ?? []) {
        if (kept.unasked >= UNASKED_LOOKS_MAX) continue;
        asked.push({ query: partOf(kept), number, name, unasked: kept.unasked });
        if (asked.length === READ_AGAIN_MAX) return asked;
      }
    }
    return asked;
  }

  /**
   * Forgets what has changed, and keeps what was read again.
   *
   * @param keys undefined for everything
   * @param mark of the time before the changes were read
   * @param again what was asked for of these keys, as of the moment at which the changes were read
   */
  learn(
    keys: readonly number[] | undefined,
    mark: number,
    again: readonly (readonly [AskedPart, UsageRead])[] = [],
  ): void {
    if (keys === undefined) this.#kept.clear();
    else for (const key of keys) this.#kept.delete(key);
    this.#settledAt = mark;
    this.#sequence += 1;
    this.#changedAt = this.#sequence;
    for (const [{ query, number, name, unasked }, read] of again) {
      if (mark < this.#forgottenAtOf(query)) continue;
      const [rule] = query.rules;
      const value = rule === undefined ? read.available : read.counted[0];
      this.#putPart(number, name, { query, rule, value, read, keptAt: mark, unasked: unasked + 1 });
    }
  }

  /** Forgets a project, after this process has changed something of it. */
  forget(projectId: string): void {
    this.#sequence += 1;
    this.#forgottenAt[groupOf(projectId)] = this.#sequence;
  }

  #put(query: UsageQuery, read: UsageRead, keptAt: number): void {
    const kept = { query, read, keptAt, unasked: 0 };
    for (const [index, rule] of query.rules.entries()) {
      if (!isRememberable(rule)) continue;
      const value = read.counted[index];
      this.#putPart(numberOf(query, rule), nameOf(query, rule), { ...kept, rule, value });
    }
    const { wallet } = query;
    if (wallet === undefined) return;
    const ofWallet = { ...kept, rule: undefined, value: read.available };
    this.#putPart(walletNumber(wallet), nameOfWallet(wallet), ofWallet);
  }

  #putPart(number: number, name: string, kept: Kept): void {
    const known = this.#kept.get(number);
    const names: KeptByName = known === undefined || known.size >= WINDOWS_MAX ? new Map() : known;
    names.set(name, kept);
    this.#kept.set(number, names);
  }

  #forgottenAtOf({ projectId }: UsageQuery): number {
    return present(this.#forgottenAt[groupOf(projectId)], 'a group of projects');
  }
}

/** Returns a query for this window or wallet alone. */
function partOf({ query, rule }: Kept): UsageQuery {
  if (query.rules.length + Number(query.wallet !== undefined) === 1) return query;
  return rule === undefined ? { ...query, rules: [] } : { ...query, rules: [rule], wallet: undefined };
}

function groupOf(projectId: string): number {
  return keyNumber(projectId) & (PROJECT_GROUPS - 1);
}

/** Whether what is read for a rule depends on nothing but the rule, the subject and the start of the window. */
function isRememberable({ rule: { period }, value }: AskedRule): boolean {
  return value === undefined && period.kind !== 'first_use' && period.kind !== 'sliding';
}

function numberOf({ projectNo }: UsageQuery, { at: { subject } }: AskedRule): number {
  return subjectNumber(projectNo, subject);
}

/** Only the id, which comes last, may contain a line break; so the name is unambiguous. */
function nameOf({ projectNo }: UsageQuery, { at: { subject }, rule, window }: AskedRule): string {
  return `${projectNo}\n${subject.type}\n${rule.ruleNo}\n${window.startS}\n${subject.id}`;
}

function nameOfWallet({ projectId, accountId, currency }: WalletKey): string {
  return `${projectId}\n${accountId}\n${currency}`;
}
