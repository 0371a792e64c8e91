import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestPostgres, type TestPostgres } from '../../testing/index.js';
import { bigintArray, byteaArray, integerArray, uuidArray } from './arrays.js';

let store: TestPostgres;
beforeAll(async () => {
  store = await createTestPostgres();
});
afterAll(() => store.drop());

describe('binary arrays', () => {
  it('are what the server reads from the text of the same elements', async () => {
    const digit = fc.constantFrom(...'0123456789abcdef');
    const element = fc.record({
      no: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
      big: fc.maxSafeInteger(),
      id: fc.string({ unit: digit, minLength: 32, maxLength: 32 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(element, { maxLength: 50 }), async (elements) => {
        const nos = elements.map(({ no }) => no);
        const ids = elements.map(({ id }) => id);
        const bigs = elements.map(({ big }) => big);
        const bytes = ids.map((id) => Buffer.from(id, 'hex'));
        const { rows } = await store.postgres.pool.query<Record<string, boolean>>(
          `select $1::integer[] = $2::text::integer[] as nos, $3::uuid[] = $4::text::uuid[] as ids,
            $5::bigint[] = $6::text::bigint[] as bigs,
            $7::bytea[] = array(select uuid_send(id) from unnest($3::uuid[]) as id) as bytes`,
          [
            ...[integerArray(nos), `{${nos.join(',')}}`, uuidArray(ids), `{${ids.join(',')}}`],
            ...[bigintArray(bigs), `{${bigs.join(',')}}`, byteaArray(bytes, 16)],
          ],
        );
        expect(rows).toEqual([{ nos: true, ids: true, bigs: true, bytes: true }]);
      }),
      { numRuns: 30 },
    );
  });

  it.each([
    ['31 digits', 'a'.repeat(31)],
    ['33 digits', 'a'.repeat(33)],
    ['another letter', `${'a'.repeat(31)}g`],
  ])('have no uuid of %s', (_, id) => {
    expect(() => uuidArray(['0'.repeat(32), id])).toThrow(new RangeError('a uuid has 32 hex digits'));
  });

  it('have no bytes of another length', () => {
    expect(() => byteaArray([Buffer.alloc(16), Buffer.alloc(15)], 16)).toThrow(
      new RangeError('expected 16 bytes'),
    );
  });

  it('have no integer that needs more than 32 bits', () => {
    expect(() => integerArray([2 ** 31])).toThrow(RangeError);
  });
});
