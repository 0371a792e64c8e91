import pg from 'pg';
import { expect, it } from 'vitest';
import { isCausedByEvents } from './deferred-turns.js';

/** Returns an error as PostgreSQL reports it. */
function refusal(code: string): Error {
  return Object.assign(new pg.DatabaseError('refused', 1, 'error'), { code });
}

it.each<[string, Error, boolean]>([
  ['a text with NUL', refusal('22021'), true],
  ['a number out of range', refusal('22003'), true],
  ['a violated constraint', refusal('23514'), true],
  ['an entry that is too long for an index', refusal('54000'), true],
  ['a defect', new TypeError('x is not a function'), true],
  ['an invariant', new Error('claimed 2 events but counted 1'), true],
  ['a deadlock', refusal('40P01'), false],
  ['a full disk of PostgreSQL', refusal('53100'), false],
  ['a column of a later schema', refusal('42703'), false],
  ['a tenant that moves', refusal('TG001'), false],
  ['a full disk', Object.assign(new Error('no space'), { code: 'ENOSPC' }), false],
  ['a lost connection', new Error('Connection terminated unexpectedly'), false],
  ['an object store', new Error('could not write', { cause: new Error('503') }), false],
])('%s', (_, error, isCaused) => {
  expect(isCausedByEvents(error)).toBe(isCaused);
});
