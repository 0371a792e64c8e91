import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairQueue } from './fair-queue.js';

const BOUNDS = { waitingPerOwnerMax: 3, waitingMax: 8 };

type Step = readonly ['add' | 'done', owner: string] | readonly ['take'];

const owner = fc.constantFrom('a', 'b', 'c', 'd');
const steps = fc.array(
  fc.oneof(
    fc.tuple(fc.constant('add' as const), owner),
    fc.tuple(fc.constant('take' as const)),
    fc.tuple(fc.constant('done' as const), owner),
  ) satisfies fc.Arbitrary<Step>,
  { maxLength: 200 },
);

/** A model of the queue, as plain as possible. */
class Expected {
  readonly waiting: { readonly owner: string; readonly work: number }[] = [];
  readonly inHand = new Set<string>();
  /** For each owner that could be served: the owners that were served since. */
  readonly served = new Map<string, string[]>();

  isFull(of: string): boolean {
    const own = this.waiting.filter((each) => each.owner === of).length;
    return own >= BOUNDS.waitingPerOwnerMax || this.waiting.length >= BOUNDS.waitingMax;
  }

  canBeServed(of: string): boolean {
    return !this.inHand.has(of) && this.waiting.some((each) => each.owner === of);
  }

  /**
   * Checks that the work is the oldest of an owner without running work, and that no owner who could have been served
   * is passed over twice.
   */
  take(taken: { owner: string; work: number } | undefined): void {
    if (taken === undefined) {
      expect(this.waiting.filter(({ owner: of }) => this.canBeServed(of))).toEqual([]);
      return;
    }
    const { owner: of, work } = taken;
    expect(this.inHand.has(of)).toBe(false);
    const at = this.waiting.findIndex((each) => each.owner === of);
    expect(this.waiting[at]?.work).toBe(work);
    this.served.delete(of);
    for (const [other, served] of this.served) {
      if (!this.canBeServed(other)) continue;
      expect(served).not.toContain(of);
      served.push(of);
    }
    this.waiting.splice(at, 1);
    this.inHand.add(of);
  }

  settle(): void {
    for (const { owner: of } of this.waiting) {
      if (!this.canBeServed(of)) this.served.delete(of);
      else if (!this.served.has(of)) this.served.set(of, []);
    }
  }
}

describe('a fair queue', () => {
  it('takes in turns by owner, one at a time of each and in its order, and no more than its bounds', () => {
    fc.assert(
      fc.property(steps, (script: readonly Step[]) => {
        const queue = new FairQueue<number>(BOUNDS);
        const expected = new Expected();
        for (const [work, [action, of = '']] of script.entries()) {
          if (action === 'take') expected.take(queue.take());
          else if (action === 'done') {
            queue.done(of);
            expected.inHand.delete(of);
          } else {
            expect(queue.add(of, work)).toBe(
              !expected.isFull(of) && expected.waiting.push({ owner: of, work }) > 0,
            );
          }
          expected.settle();
          expect(queue.size).toBe(expected.waiting.length);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('serves another owner next, however much waits before it', () => {
    const queue = new FairQueue<string>({ waitingPerOwnerMax: 8, waitingMax: 100 });
    for (let n = 1; n <= 8; n += 1) queue.add('loud', `loud ${n}`);
    queue.add('quiet', 'quiet 1');
    const order: string[] = [];
    for (let next = queue.take(); next !== undefined; next = queue.take()) {
      order.push(next.work);
      queue.done(next.owner);
    }
    expect(order.slice(0, 3)).toEqual(['loud 1', 'quiet 1', 'loud 2']);
    expect(order).toHaveLength(9);
  });

  it('gives out what no longer waits, and only that', () => {
    const queue = new FairQueue<string>(BOUNDS);
    for (const work of ['a1', 'a2']) queue.add('a', work);
    expect([queue.remove('a', 'a1'), queue.remove('a', 'a1'), queue.remove('b', 'a2')]).toEqual([
      true,
      false,
      false,
    ]);
    queue.add('b', 'b1');
    expect(queue.removeAll()).toEqual(['a2', 'b1']);
    expect([queue.size, queue.take()]).toEqual([0, undefined]);
  });
});
