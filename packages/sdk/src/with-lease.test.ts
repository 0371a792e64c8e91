import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { BudgetLease, CreateLeaseBody } from '#contract';
import { ApiError } from './errors.js';
import { type LeaseCallsOfWork, withLease } from './with-lease.js';

const BODY: CreateLeaseBody = {
  subject_type: 'user',
  subject_id: 'u1',
  amount: '1',
  currency: 'USD',
  ttl_seconds: 30,
};
/** A lease is renewed after a third of its life. */
const RENEWAL_MS = 10_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Calls that are noted; `renewal` is how a renewal ends. */
function noted(renewal: () => Promise<void> = async () => {}) {
  const log: string[] = [];
  const calls: LeaseCallsOfWork = {
    create: async (lease) => {
      log.push(`create ${lease.amount}`);
      return { id: 'bl_1' };
    },
    renew: async (id, ttl) => {
      log.push(`renew ${id} ${ttl}`);
      await renewal();
      return {} as BudgetLease;
    },
    close: async (id) => {
      log.push(`close ${id}`);
      return {} as BudgetLease;
    },
  };
  return { log, calls };
}

/** Work that lasts for a number of renewals. */
const lasting = (renewals: number) => () =>
  new Promise<string>((resolve) => {
    setTimeout(() => resolve('done'), renewals * RENEWAL_MS + 1);
  });

describe('some work with a lease', () => {
  it('keeps its lease while it lasts, and a little longer for its usage', async () => {
    const { log, calls } = noted();
    const result = withLease(calls, BODY, lasting(2), {});
    await vi.advanceTimersByTimeAsync(3 * RENEWAL_MS);
    expect(await result).toBe('done');
    expect(log).toEqual(['create 1', 'renew bl_1 30', 'renew bl_1 30', 'renew bl_1 5']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('can have a lease of several holds, and of a part of another lease', async () => {
    const { log, calls } = noted();
    const asked: CreateLeaseBody = {
      subject_type: 'user',
      subject_id: 'u1',
      holds: [
        { amount: '1.50', currency: 'USD' },
        { quantity: 20_000, metric: 'llm.tokens' },
      ],
      parent_lease_id: 'bl_0',
      ttl_seconds: 30,
    };
    const created: CreateLeaseBody[] = [];
    const create: LeaseCallsOfWork['create'] = async (body) => {
      created.push(body);
      return { id: 'bl_2' };
    };
    const result = withLease({ ...calls, create }, asked, lasting(1), { settleSeconds: 0 });
    await vi.advanceTimersByTimeAsync(2 * RENEWAL_MS);
    expect(await result).toBe('done');
    expect(created).toEqual([asked]);
    expect(log).toEqual(['renew bl_2 30', 'close bl_2']);
  });

  it('can close it at once', async () => {
    const { log, calls } = noted();
    expect(await withLease(calls, BODY, async ({ id }) => id, { settleSeconds: 0 })).toBe('bl_1');
    expect(log).toEqual(['create 1', 'close bl_1']);
  });

  it('that throws closes it, and throws the same', async () => {
    const { log, calls } = noted();
    const failing = async () => {
      throw new Error('no model');
    };
    await expect(withLease(calls, BODY, failing, {})).rejects.toThrow('no model');
    expect(log).toEqual(['create 1', 'close bl_1']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is not renewed any more once its end has begun', async () => {
    const { log, calls } = noted(() => new Promise((resolve) => setTimeout(resolve, 2 * RENEWAL_MS)));
    const result = withLease(calls, BODY, async () => 'done', {});
    await vi.advanceTimersByTimeAsync(4 * RENEWAL_MS);
    expect(await result).toBe('done');
    expect(log).toEqual(['create 1', 'renew bl_1 5']);
  });

  it('ends after a renewal that is under way', async () => {
    const { log, calls } = noted(async () => {
      await new Promise((resolve) => setTimeout(resolve, RENEWAL_MS / 2));
      log.push('renewed');
    });
    const result = withLease(calls, BODY, lasting(1), {});
    await vi.advanceTimersByTimeAsync(3 * RENEWAL_MS);
    expect(await result).toBe('done');
    expect(log).toEqual(['create 1', 'renew bl_1 30', 'renewed', 'renew bl_1 5', 'renewed']);
  });

  it('does not begin without a lease', async () => {
    const { calls } = noted();
    const refused = new ApiError(409, 'limit_exceeded', 'full');
    const work = vi.fn();
    const refusing = { ...calls, create: () => Promise.reject(refused) };
    await expect(withLease(refusing, BODY, work, {})).rejects.toBe(refused);
    expect(work).not.toHaveBeenCalled();
  });

  it('is told when its lease has ended', async () => {
    const { log, calls } = noted(() => Promise.reject(new ApiError(409, 'lease_not_active', 'over')));
    const result = withLease(
      calls,
      BODY,
      async ({ signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return signal.reason.code;
      },
      {},
    );
    await vi.advanceTimersByTimeAsync(RENEWAL_MS);
    expect(await result).toBe('lease_not_active');
    expect(log).toEqual(['create 1', 'renew bl_1 30']);
  });

  it('tries again after a renewal that failed for another reason', async () => {
    const { log, calls } = noted(() => Promise.reject(new ApiError(503, 'store_unavailable', 'later')));
    const result = withLease(
      calls,
      BODY,
      async ({ signal }) => {
        await lasting(2)();
        return signal.aborted;
      },
      {},
    );
    await vi.advanceTimersByTimeAsync(3 * RENEWAL_MS);
    expect(await result).toBe(false);
    expect(log.filter((line) => line === 'renew bl_1 30')).toHaveLength(2);
  });
});
