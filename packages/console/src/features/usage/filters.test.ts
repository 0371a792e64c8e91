import { UNIX_SECONDS_MAX } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { eventQueryOf, filterBounds, filtersOf, isOpenEnded, isRangeOfFailures } from './filters.js';

describe('the filters of an address', () => {
  it.each([
    ['', {}],
    ['status=failed&metric=llm.calls', { status: 'failed', metric: 'llm.calls' }],
    ['status=received&event=evt_1&unknown=1', {}],
    ['note=quantity_kept', { note: 'quantity_kept' }],
    ['note=other', {}],
    ['from=5&to=10', { from: 5, to: 10 }],
    ['from=-1&to=1e3&last=x', {}],
    ['to=999999999999', { to: UNIX_SECONDS_MAX }],
    ['subject_id=%3Cimg%3E&source=', { subject_id: '<img>' }],
    [
      'filters={"a":{"in":["x"]},"b":{"exists":false}}',
      { filters: '{"a":{"in":["x"]},"b":{"exists":false}}' },
    ],
    ['filters={"a":{"in":[]},"b":{"in":["x"],"exists":true},"c":{"is":1},"d":{"not_in":[1]}}', {}],
    ['filters=[1', {}],
  ])('%s', (address, filters) => expect(filtersOf(new URLSearchParams(address))).toEqual(filters));
});

it('asks for the time that the filters mean now', () => {
  expect(eventQueryOf({ last: 60, source: 'x' }, 1_000)).toEqual({ from: 940, source: 'x' });
  expect(eventQueryOf({ last: 60 }, 10)).toEqual({ from: 0 });
  expect(eventQueryOf({ from: 1, to: 2 }, 1_000)).toEqual({ from: 1, to: 2 });
  expect(eventQueryOf({ metric: 'a, b', currency: 'USD', filters: '{}' }, 0)).toEqual({
    metric: ['a', 'b'],
    currency: 'USD',
    filters: '{}',
  });
  expect(filterBounds({})).toEqual({ from: 0, to: UNIX_SECONDS_MAX });
});

it('knows what can still grow, and what one request says wholly', () => {
  expect([isOpenEnded({}), isOpenEnded({ from: 1 }), isOpenEnded({ to: 2 })]).toEqual([true, true, false]);
  expect(isRangeOfFailures({ last: 60, failure_code: 'x', status: 'failed' })).toBe(true);
  expect(isRangeOfFailures({ source: 'x' })).toBe(false);
  expect(isRangeOfFailures({ note: 'any' })).toBe(false);
  expect(isRangeOfFailures({ filters: '{"a":{"exists":true}}' })).toBe(false);
});
