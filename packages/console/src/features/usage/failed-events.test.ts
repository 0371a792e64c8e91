import type { UsageEvent } from '@tollgate/contract';
import { expect, it } from 'vitest';
import { groupFailures, progressOf } from './failed-events.js';

const failed = (raw_event_id: string, code: string, processed_at = 1) =>
  ({
    raw_event_id,
    processed_at,
    failure: { code, message: `${code} of ${raw_event_id}`, path: null },
  }) as UsageEvent;

it('counts failures by their code, with the message of the newest', () => {
  const events = [failed('a', 'x'), failed('b', 'constructor'), failed('c', 'x')];
  expect(groupFailures(events)).toEqual([
    { code: 'x', count: 2, message: 'x of a' },
    { code: 'constructor', count: 1, message: 'constructor of b' },
  ]);
});

it('shows what became of failed events', () => {
  const asked = [failed('mended', 'x'), failed('again', 'x'), failed('waits', 'x')];
  const still = [failed('again', 'y', 2), failed('waits', 'x'), failed('other', 'x', 2)];
  expect(progressOf(asked, asked)).toEqual({ rated: 0, failedAgain: 0 });
  expect(progressOf(asked, still)).toEqual({ rated: 2, failedAgain: 1 });
  expect(progressOf(asked, [])).toEqual({ rated: 3, failedAgain: 0 });
});
