import { expect, it } from 'vitest';
import { eventCountText, stateText } from './state-text.js';

const unchanged = (matched: number, failed: number) =>
  stateText({
    ...{ status: 'applied', events_matched: matched, events_changed: 0, created_at: 0, planned_at: 0 },
    events_failed: failed === 0 ? [] : [{ code: 'subject_missing', count: failed }],
    applied: { events: 0, totals: [] },
  });

it('tells apart why an applied correction has changed no event', () => {
  expect(unchanged(0, 0)).toBe('No event has changed: none matched.');
  expect(unchanged(2, 2)).toBe('No event has changed.');
  expect(unchanged(2, 1)).toBe('No event has changed: the result of 1 event would be the same.');
  expect(unchanged(2, 0)).toBe('No event has changed: the results of 2 events would be the same.');
});

it('counts what is done of a correction that has stopped, and what one changes otherwise', () => {
  const progress = { events_done: 2_000, events_total: 13_572 };
  const statuses = ['stale', 'reverting', 'applied', 'planned'] as const;
  const listed = statuses.map((status) => eventCountText({ status, events_changed: 13_572, progress }));
  expect(listed).toEqual(['2,000 of 13,572', '2,000 of 13,572', '13,572', '13,572']);
});
