import { describe, expect, it } from 'vitest';
import { failingSince, outcomeOf } from './health.js';

const delivered = { status: 'delivered', last_attempt_at: 5, created_at: 4 } as const;
const failed = { status: 'failed', last_attempt_at: 5, created_at: 3 } as const;
const trying = { status: 'pending', last_attempt_at: 5, created_at: 2 } as const;
const waiting = { status: 'pending', last_attempt_at: null, created_at: 1 } as const;
const cancelled = { status: 'cancelled', last_attempt_at: null, created_at: 0 } as const;

describe('the outcome of a delivery', () => {
  it.each([
    [delivered, 'delivered'],
    [failed, 'failed'],
    [trying, 'trying'],
    [waiting, 'waiting'],
    [cancelled, 'cancelled'],
  ] as const)('of %j is %s', (delivery, outcome) => expect(outcomeOf(delivery)).toBe(outcome));
});

describe('the time since when nothing gets through', () => {
  it.each([
    ['nothing was sent', [], undefined],
    ['the last one arrived', [delivered, failed], undefined],
    ['the last one failed', [failed, delivered], 3],
    ['several failed in a row', [failed, trying, delivered, failed], 2],
    ['one waits for its first attempt', [waiting, delivered], undefined],
    ['one that waits stands before one that failed', [waiting, failed, delivered], 3],
    ['what was cancelled says nothing', [cancelled, delivered], undefined],
  ] as const)('where %s', (_, deliveries, since) => expect(failingSince(deliveries)).toBe(since));
});
