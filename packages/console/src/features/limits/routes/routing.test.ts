import type { SubjectRoute } from '@tollgate/contract';
import { expect, it } from 'vitest';
import { routingOf } from './routing.js';

const route = (subject_id: string) => ({ id: `ra_${subject_id}`, subject_id }) as SubjectRoute;
const SUBJECT = { type: 'user', id: 'u1' };

it('prefers the route of the subject itself', () => {
  const { route: found, reason } = routingOf(SUBJECT, route('u1'), route('*'));
  expect([found?.id, reason]).toEqual([
    'ra_u1',
    'This subject has its own route. It takes precedence over the route for every user.',
  ]);
  expect(routingOf(SUBJECT, route('u1'), undefined).reason).toBe('This subject has its own route.');
});

it('otherwise uses the default route of the type', () => {
  const { route: found, reason } = routingOf(SUBJECT, undefined, route('*'));
  expect([found?.id, reason]).toEqual([
    'ra_*',
    'This subject has no route of its own, so the route for every user applies, with separate windows.',
  ]);
});

it('finds none where there is none', () => {
  expect(routingOf(SUBJECT, undefined, undefined)).toEqual({
    route: undefined,
    reason: expect.stringContaining('nobody pays for it'),
  });
  expect(routingOf({ type: 'user', id: '*' }, undefined, undefined).reason).toBe(
    'There is no route for every user.',
  );
});
