import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Principal } from '../../kernel/principal.js';
import { KeyRates } from './key-rates.js';

const key = (keyId: string): Principal => ({
  kind: 'key',
  keyId,
  tenantId: 'ten_1',
  projectId: undefined,
  permissions: [],
});

/** The rates of a service at a time that the test sets. */
function ratesOf(perSecond: number) {
  const clock = { nowMs: 5_000 };
  const rates = new KeyRates(perSecond, () => clock.nowMs);
  const accepts = (principal = key('a')) => rates.refusalOf(principal) === undefined;
  return { clock, rates, accepts };
}

describe('the rate of an API key', () => {
  it('lets a silent key send the requests of a second at once, and then one in each part of a second', () => {
    const { clock, accepts } = ratesOf(3);
    expect([1, 2, 3, 4].map(() => accepts())).toEqual([true, true, true, false]);
    clock.nowMs += 334;
    expect([accepts(), accepts()]).toEqual([true, false]);
    clock.nowMs += 60_000;
    expect([1, 2, 3, 4].map(() => accepts())).toEqual([true, true, true, false]);
  });

  it('is that of one key, and the service key has none', () => {
    const { accepts, rates } = ratesOf(1);
    expect([accepts(), accepts(), accepts(key('b'))]).toEqual([true, false, true]);
    expect([1, 2, 3].map(() => accepts({ kind: 'service' }))).toEqual([true, true, true]);
    expect([1, 2].map(() => rates.refusalOf(undefined))).toEqual([undefined, undefined]);
  });

  it('says when to come back, and what the limit is', () => {
    const { rates } = ratesOf(2);
    for (const _ of [1, 2]) rates.refusalOf(key('a'));
    expect(rates.refusalOf(key('a'))).toMatchObject({
      code: 'key_rate_exceeded',
      retryAfterS: 1,
      message: 'The API key sends more than 2 requests per second; nothing was accepted.',
    });
  });

  it('never accepts more than its limit and one burst, and refuses no key that stays below it', () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), pauses, (perSecond, pausesMs) => {
        const { clock, accepts } = ratesOf(perSecond);
        const acceptedMs: number[] = [];
        for (const pauseMs of pausesMs) {
          clock.nowMs += pauseMs;
          const recent = acceptedMs.filter((atMs) => atMs > clock.nowMs - 2_000).length;
          const isBelow = recent < perSecond;
          const isAccepted = accepts();
          if (isBelow) expect(isAccepted).toBe(true);
          if (isAccepted) acceptedMs.push(clock.nowMs);
        }
        for (const [at, fromMs] of acceptedMs.entries()) {
          const inSecond = acceptedMs.slice(at).filter((atMs) => atMs < fromMs + 1_000).length;
          expect(inSecond).toBeLessThanOrEqual(2 * perSecond);
        }
      }),
    );
  });
});
