import { expect, it } from 'vitest';
import { Slots } from './slots.js';
import type { KeyPrincipal } from './types.js';

const key = (keyId: string): KeyPrincipal => ({
  kind: 'key',
  keyId,
  tenantId: 'ten_1',
  projectId: undefined,
  permissions: [],
});

it('bounds what one key has, and what all have', () => {
  const slots = new Slots({ what: 'streams', perKeyMax: 2, totalMax: 3 });
  const release = slots.take(key('a'));
  slots.take(key('a'));
  expect(() => slots.take(key('a'))).toThrow('A key may have 2 streams at once.');
  slots.take({ kind: 'service' });
  expect(() => slots.take(key('b'))).toThrow('The server has as many streams');
  expect(slots.taken).toBe(3);
  release();
  release();
  expect(slots.taken).toBe(2);
  slots.take(key('a'));
  expect(() => slots.take(key('a'))).toThrow('A key may have 2 streams at once.');
});
