import type { UsageEvent } from '@tollgate/contract';
import { expect, it } from 'vitest';
import { feedOf } from './event-feed.js';

const event = (raw_event_id: string, status: 'processed' | 'failed' = 'processed') =>
  ({ raw_event_id, status }) as UsageEvent;
const [a, b, c] = [event('a'), event('b'), event('c')];

it('shows what was read while nothing is followed', () => {
  expect(feedOf([b, a])).toEqual({ rows: [b, a], arrived: [], hasGap: false });
});

it('keeps new events apart, and updates changed ones in place', () => {
  const failed = event('a', 'failed');
  expect(feedOf([b, failed], [c, b, a])).toEqual({ rows: [b, a], arrived: [c], hasGap: false });
});

it('says that more has arrived than one read shows', () => {
  expect(feedOf([a], [c, b])).toEqual({ rows: [a], arrived: [c, b], hasGap: true });
  expect(feedOf([], [b])).toEqual({ rows: [], arrived: [b], hasGap: false });
});
