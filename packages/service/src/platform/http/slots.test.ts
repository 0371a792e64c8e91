import { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { expect, it } from 'vitest';
import type { KeyPrincipal } from '../../kernel/principal.js';
import { Slots } from './slots.js';

const key = (keyId: string, tenantId = 'ten_1'): KeyPrincipal => ({
  kind: 'key',
  keyId,
  tenantId,
  projectId: undefined,
  permissions: [],
});

/** A reply that lasts until its response is destroyed. */
function answer(): Pick<FastifyReply, 'raw'> {
  return { raw: new ServerResponse({ method: 'GET' } as never) };
}

it('bounds what one key has, and what all have', () => {
  const slots = new Slots({ what: 'streams', perKeyMax: 2, totalMax: 3 });
  const first = answer();
  const gone = slots.take(key('a'), first);
  slots.take(key('a'), answer());
  expect(() => slots.take(key('a'), answer())).toThrow('A key can have at most 2 streams open at once.');
  slots.take({ kind: 'service' }, answer());
  expect(() => slots.take(key('b'), answer())).toThrow(
    'The server already has the maximum number of streams',
  );
  expect([slots.taken, gone.aborted]).toEqual([3, false]);
  first.raw.emit('close');
  first.raw.emit('close');
  expect([slots.taken, gone.aborted]).toEqual([2, true]);
  slots.take(key('a'), answer());
  expect(() => slots.take(key('a'), answer())).toThrow('A key can have at most 2 streams open at once.');
});

it('leaves room for other tenants, however many keys one has', () => {
  const slots = new Slots({ what: 'streams', perKeyMax: 2, totalMax: 8 });
  const answers = Array.from({ length: 6 }, answer);
  for (const [index, each] of answers.entries()) slots.take(key(`a${index}`), each);
  expect(() => slots.take(key('a6'), answer())).toThrow('The keys of the tenant already have its share');
  slots.take(key('b', 'ten_2'), answer());
  answers[0]?.raw.emit('close');
  answers[1]?.raw.emit('close');
  slots.take(key('a6'), answer());
  expect(slots.taken).toBe(6);
});

it('gives back at once what is taken for an answer that is over', () => {
  const slots = new Slots({ what: 'streams', perKeyMax: 1, totalMax: 1 });
  const over = answer();
  over.raw.destroy();
  expect([slots.take(key('a'), over).aborted, slots.taken]).toEqual([true, 0]);
});

it('aborts the signals of all when they are ended, and of who comes later', () => {
  const slots = new Slots({ what: 'streams', perKeyMax: 2, totalMax: 2 });
  const before = slots.take(key('a'), answer());
  expect(before.aborted).toBe(false);
  slots.end();
  expect([before.aborted, slots.take(key('a'), answer()).aborted]).toEqual([true, true]);
});
