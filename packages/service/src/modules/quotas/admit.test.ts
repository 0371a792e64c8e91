import { expect, it } from 'vitest';
import { monthlyEvents } from './admit.js';

const JUNE_S = Date.UTC(2026, 5, 1) / 1_000;
const JULY_S = Date.UTC(2026, 6, 1) / 1_000;

it('adds up events by tenant and by the month of their arrival, in the order of their keys', () => {
  const group = (tenantId: string, receivedAtMs: number, eventCount: number) => ({
    tenantId,
    receivedAtMs,
    eventCount,
  });
  const groups = [
    group('ten_b', JULY_S * 1_000, 1),
    group('ten_a', JULY_S * 1_000 + 5, 2),
    group('ten_b', JULY_S * 1_000 - 1, 3),
    group('ten_b', JUNE_S * 1_000, 4),
    group('ten_a', JULY_S * 1_000, 5),
    group('ten_c', JULY_S * 1_000, 0),
  ];
  expect(monthlyEvents(groups)).toEqual([
    { tenantId: 'ten_a', monthStartS: JULY_S, eventCount: 7 },
    { tenantId: 'ten_b', monthStartS: JUNE_S, eventCount: 7 },
    { tenantId: 'ten_b', monthStartS: JULY_S, eventCount: 1 },
  ]);
  expect(monthlyEvents([])).toEqual([]);
});
