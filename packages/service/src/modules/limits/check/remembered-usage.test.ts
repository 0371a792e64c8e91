import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../testing/property-runs.js';
import type { WalletKey } from '../../ledger/index.js';
import { walletNumber } from '../../ledger/index.js';
import { subjectNumber } from '../rules/route-rules.js';
import type { Counted } from './limit-status.js';
import type { AskedRule, UsageQuery, UsageRead } from './limit-status-store.js';
import { type AskedPart, RememberedUsage } from './remembered-usage.js';

const PROJECT_NO = 7;
const SUBJECTS = ['a', 'b'];
const WALLET = 'wallet';
const PARTS = [...SUBJECTS, WALLET];
const wallet: WalletKey = { tenantId: 't', projectId: 'p', accountId: 'acct', currency: 'USD' };

function ruleOf(id: string, changes: { kind?: string; value?: string; startS?: number } = {}): AskedRule {
  const { kind = 'calendar', value, startS = 0 } = changes;
  const at = { level: 0, subject: { type: 'user', id } };
  return { at, rule: { ruleNo: 1, period: { kind } }, window: { startS }, value } as unknown as AskedRule;
}

function queryOf(parts: readonly string[]): UsageQuery {
  const rules = parts.filter((part) => part !== WALLET).map((id) => ruleOf(id));
  return {
    projectId: 'p',
    projectNo: PROJECT_NO,
    rules,
    wallet: parts.includes(WALLET) ? wallet : undefined,
  };
}

const keyOf = (part: string) =>
  part === WALLET ? walletNumber(wallet) : subjectNumber(PROJECT_NO, { type: 'user', id: part });

const countedOf = (used: bigint): Counted => ({
  opened: undefined,
  used,
  limit: undefined,
  reserved: 0n,
  reservedVersion: undefined,
  isSeen: false,
});

/** Returns what the database would: how often each part has changed. */
function readOf(state: ReadonlyMap<string, bigint>, query: UsageQuery): UsageRead {
  const changesOf = (part: string) => state.get(part) ?? 0n;
  return {
    counted: query.rules.map(({ at }) => countedOf(changesOf(at.subject.id))),
    available: query.wallet === undefined ? undefined : changesOf(WALLET),
  };
}

/** A database whose every state is kept, and a process that reads it, with reads and looks under way. */
class Simulation {
  readonly memory = new RememberedUsage();
  /** How many windows and wallets were read again. */
  readAgain = 0;
  readonly #states: ReadonlyMap<string, bigint>[] = [new Map()];
  readonly #changed: (readonly string[])[] = [[]];
  #learned = 0;
  /** An answer from memory must have all changes up to this state. */
  #oldestAllowed = 0;
  readonly #reads: { query: UsageQuery; mark: number; read?: UsageRead }[] = [];
  #look: { mark: number; state?: number; again?: (readonly [AskedPart, UsageRead])[] } | undefined;

  get #now(): number {
    return this.#states.length - 1;
  }

  commit(parts: readonly string[], isOwn: boolean): void {
    const state = new Map(this.#states[this.#now]);
    for (const part of parts) state.set(part, (state.get(part) ?? 0n) + 1n);
    this.#states.push(state);
    this.#changed.push(parts);
    if (!isOwn) return;
    this.memory.forget('p');
    this.#oldestAllowed = this.#now;
  }

  beginRead(parts: readonly string[]): void {
    this.#reads.push({ query: queryOf(parts), mark: this.memory.mark() });
  }

  /** Moves a read on: it sees the database, then it returns. */
  moveRead(index: number): void {
    const at = index % Math.max(this.#reads.length, 1);
    const begun = this.#reads[at];
    if (begun === undefined) return;
    if (begun.read === undefined) {
      begun.read = readOf(this.#states[this.#now] as ReadonlyMap<string, bigint>, begun.query);
      return;
    }
    this.memory.keep(begun.query, begun.read, begun.mark);
    this.#reads.splice(at, 1);
  }

  /** Moves the look on: it begins, sees the database, reads again as of the same state, and returns. */
  moveLook(): void {
    if (this.#look === undefined) {
      this.#look = { mark: this.memory.mark() };
      return;
    }
    this.#look.state ??= this.#now;
    const { state, again, mark } = this.#look;
    const keys = this.#changed.slice(this.#learned + 1, state + 1).flatMap((parts) => parts.map(keyOf));
    if (again === undefined) {
      const seen = this.#states[state] as ReadonlyMap<string, bigint>;
      this.#look.again = this.memory.askedOf(keys).map((part) => [part, readOf(seen, part.query)]);
    } else {
      this.memory.learn(keys, mark, again);
      this.readAgain += again.length;
      this.#learned = state;
      this.#oldestAllowed = Math.max(this.#oldestAllowed, this.#learned);
      this.#look = undefined;
    }
  }

  /** Checks that an answer from memory is that of one state that is recent enough. Returns whether there was one. */
  recall(parts: readonly string[]): boolean {
    const query = queryOf(parts);
    const answer = this.memory.recall(query);
    if (answer === undefined) return false;
    const allowed = this.#states.slice(this.#oldestAllowed).map((state) => readOf(state, query));
    expect(allowed).toContainEqual(answer);
    return true;
  }
}

const anyParts = fc.uniqueArray(fc.constantFrom(...PARTS), { minLength: 1 });
const anyStep = fc.oneof(
  fc.record({ do: fc.constant('commit' as const), parts: anyParts, isOwn: fc.boolean() }),
  fc.record({ do: fc.constant('beginRead' as const), parts: anyParts }),
  fc.record({ do: fc.constant('moveRead' as const), index: fc.nat(5) }),
  fc.record({ do: fc.constant('moveLook' as const) }),
  fc.record({ do: fc.constant('recall' as const), parts: anyParts }),
);

describe('remembered usage', () => {
  it('is that of one moment, and has all changes that were learned, in whatever order things end', () => {
    let recalled = 0;
    let readAgain = 0;
    const runs = fc.property(fc.array(anyStep, { minLength: 20, maxLength: 120 }), (steps) => {
      const simulation = new Simulation();
      for (const step of steps) {
        if (step.do === 'commit') simulation.commit(step.parts, step.isOwn);
        else if (step.do === 'beginRead') simulation.beginRead(step.parts);
        else if (step.do === 'moveRead') simulation.moveRead(step.index);
        else if (step.do === 'moveLook') simulation.moveLook();
        else recalled += Number(simulation.recall(step.parts));
      }
      readAgain += simulation.readAgain;
    });
    fc.assert(runs, { numRuns: propertyRuns(2_000) });
    expect(recalled).toBeGreaterThan(0);
    expect(readAgain).toBeGreaterThan(0);
  });

  it('reads again what was asked for, until it is not asked for any more', () => {
    const memory = kept([queryOf(['a'])]);
    const change = () => {
      const mark = memory.mark();
      const parts = memory.askedOf([keyOf('a'), keyOf('a'), keyOf('b')]);
      const read = { counted: [countedOf(6n)], available: undefined };
      memory.learn(
        [keyOf('a')],
        mark,
        parts.map((part) => [part, read]),
      );
      return parts.length;
    };
    expect(change()).toBe(1);
    expect(memory.recall(queryOf(['a']))?.counted).toEqual([countedOf(6n)]);
    const looks = Array.from({ length: 7 }, change);
    expect(looks).toEqual([1, 1, 1, 1, 1, 0, 0]);
    expect(memory.recall(queryOf(['a']))).toBeUndefined();
  });

  it('reads at most a thousand windows again with one look', () => {
    const names = Array.from({ length: 1_001 }, (_, index) => `s${index}`);
    const memory = kept(names.map((name) => queryOf([name])));
    expect(memory.askedOf(names.map(keyOf))).toHaveLength(1_000);
  });

  const kept = (queries: readonly UsageQuery[]) => {
    const memory = new RememberedUsage();
    const read: UsageRead = { counted: [countedOf(5n)], available: 3n };
    for (const query of queries) memory.keep(query, read, memory.mark());
    return memory;
  };

  it('keeps a wallet without a bound, too', () => {
    const memory = new RememberedUsage();
    memory.keep(queryOf([WALLET]), { counted: [], available: undefined }, memory.mark());
    expect(memory.recall(queryOf([WALLET]))).toEqual({ counted: [], available: undefined });
  });

  it.each([
    ['a window that usage opens', { kind: 'first_use' }],
    ['a window that slides', { kind: 'sliding' }],
    ['a value', { value: 'x' }],
  ])('has nothing about %s', (_, changes) => {
    const query = { ...queryOf([]), rules: [ruleOf('a', changes)] };
    expect(kept([query]).recall(query)).toBeUndefined();
  });

  it('tells windows, subjects and projects apart', () => {
    const memory = kept([queryOf(['a'])]);
    expect(memory.recall(queryOf(['a']))?.counted).toEqual([countedOf(5n)]);
    expect(memory.recall(queryOf(['b']))).toBeUndefined();
    expect(memory.recall({ ...queryOf(['a']), projectNo: 8 })).toBeUndefined();
    expect(memory.recall({ ...queryOf([]), rules: [ruleOf('a', { startS: 60 })] })).toBeUndefined();
  });

  it('forgets everything when anything may have changed, and one project when that was changed here', () => {
    const other = { ...queryOf(['a']), projectId: 'q', projectNo: 8 };
    const memory = kept([queryOf(['a']), other]);
    memory.forget('p');
    expect(memory.recall(queryOf(['a']))).toBeUndefined();
    expect(memory.recall(other)).toBeDefined();
    memory.learn(undefined, memory.mark());
    expect(memory.recall(other)).toBeUndefined();
  });

  it('stays bounded: in the windows of a subject, and in all', () => {
    const atStart = (id: string, startS: number) => ({ ...queryOf([]), rules: [ruleOf(id, { startS })] });
    const windows = Array.from({ length: 21 }, (_, startS) => atStart('a', startS));
    const memory = kept(windows);
    expect(windows.filter((query) => memory.recall(query) !== undefined)).toHaveLength(1);
    const subjects = Array.from({ length: 20_001 }, (_, index) => atStart(`s${index}`, 0));
    const full = kept(subjects);
    expect(full.recall(subjects[0] as UsageQuery)).toBeUndefined();
    expect(full.recall(subjects[20_000] as UsageQuery)).toBeDefined();
  });
});
