import type { SubjectRoute } from '@tollgate/contract';
import { expect, it } from 'vitest';
import { routingOf } from './routing.js';

const route = (subject_id: string) => ({ id: `ra_${subject_id}`, subject_id }) as SubjectRoute;
const SUBJECT = { type: 'user', id: 'u1' };

it('prefers the route that names the subject', () => {
  const { route: found, reason } = routingOf(SUBJECT, route('u1'), route('*'));
  expect([found?.id, reason]).toEqual([
    'ra_u1',
    'It has a route of its own. It wins over that of every user.',
  ]);
  expect(routingOf(SUBJECT, route('u1'), undefined).reason).toBe('It has a route of its own.');
});

it('takes that of every subject of the type otherwise', () => {
  const { route: found, reason } = routingOf(SUBJECT, undefined, route('*'));
  expect([found?.id, reason]).toEqual([
    'ra_*',
    'It has no route of its own, so that of every user applies, with windows of its own.',
  ]);
});

it('finds none where there is none', () => {
  expect(routingOf(SUBJECT, undefined, undefined)).toEqual({
    route: undefined,
    reason: expect.stringContaining('nobody pays for it'),
  });
  expect(routingOf({ type: 'user', id: '*' }, undefined, undefined).reason).toBe(
    'There is no route of every user.',
  );
});
