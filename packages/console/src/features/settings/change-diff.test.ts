import type { AuditEntry } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { entryBefore, placesChanged } from './change-diff.js';

const entry = (id: string, action: string, change: unknown = {}) => ({ id, action, change }) as AuditEntry;

describe('what a change changed', () => {
  it.each([
    ['nothing', { a: 1 }, { a: 1 }, []],
    ['a value', { a: 1, b: 2 }, { a: 1, b: 3 }, [{ path: 'b', before: '2', after: '3' }]],
    ['what is new', null, { a: 'x' }, [{ path: 'a', before: undefined, after: '"x"' }]],
    ['what is gone', { a: 1 }, {}, [{ path: 'a', before: '1', after: undefined }]],
    [
      'places deep inside',
      { rules: [{ name: 'x', tiers: [] }] },
      { rules: [{ name: 'y', tiers: [] }] },
      [{ path: 'rules[0].name', before: '"x"', after: '"y"' }],
    ],
    ['a type', { a: 1 }, { a: '1' }, [{ path: 'a', before: '1', after: '"1"' }]],
  ])('%s', (_, before, after, places) => expect(placesChanged(before, after)).toEqual(places));
});

it('finds how the thing stood before', () => {
  const [second, test, first] = [entry('3', 'x.update'), entry('2', 'x.test'), entry('1', 'x.create')];
  const history = [second, test, first];
  expect(entryBefore(second, history)).toBe(first);
  expect(entryBefore(first, history)).toBeUndefined();
  expect(entryBefore(test, history)).toBeUndefined();
  expect(entryBefore(entry('0', 'x.update'), history)).toBeUndefined();
  const published = entry('4', 'x.publish');
  expect(entryBefore(published, [published, ...history])).toBeUndefined();
});
