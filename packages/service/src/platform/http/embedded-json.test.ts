import { Type } from 'typebox';
import { expect, it } from 'vitest';
import { DomainError } from '../../kernel/errors.js';
import { embeddedJson } from './embedded-json.js';
import { statusOf } from './failures.js';

const read = embeddedJson(
  Type.Object({ names: Type.Array(Type.String({ minLength: 1 })) }, { additionalProperties: false }),
);

function refusal(text: string): DomainError {
  try {
    read(text, 'query[2]');
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error(`${text} was taken`);
}

it('reads what a body of the schema may hold', () => {
  expect(read('{"names":["a","\\u00e9"]}', 'query[2]')).toEqual({ names: ['a', 'é'] });
});

it.each([
  ['{"names":[""]}', 'query[2].names[0]'],
  ['{"names":"a"}', 'query[2].names'],
  ['{}', 'query[2].names'],
  ['{"names":[],"__proto__":1}', 'query[2].__proto__'],
  ['{"names":[],"a b":1}', 'query[2]["a b"]'],
  ['[]', 'query[2]'],
  ['null', 'query[2]'],
  ['{"names":', 'query[2]'],
  ['', 'query[2]'],
  ['{"names":["\\ud800"]}', 'query[2].names[0]'],
])('refuses %s at %s', (text, path) => {
  const refused = refusal(text);
  const { details, message } = refused;
  expect(statusOf(refused)).toBe(400);
  expect(details?.[0]?.path).toBe(path);
  expect(message).toContain(path);
});

it('says what is wrong with the text, which is no body', () => {
  expect(refusal('{').message).toMatch(
    /^The request is not valid: query\[2\]: is not valid JSON: it ends too early/,
  );
  expect(refusal('').message).not.toContain('body');
});

it('refuses what is nested too deeply before it is parsed', () => {
  expect(refusal('['.repeat(4_000)).message).toContain('nested too deeply');
});
