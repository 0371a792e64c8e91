import { expect, it } from 'vitest';
import { BoundedMemory } from '../../../kernel/bounded-memory.js';
import { RuleExpression } from './rule-expression.js';

/** Expressions that compile to their source, and which of them were compiled. */
function expressions(memory: BoundedMemory | undefined) {
  const compiled: string[] = [];
  const of = (source: string) =>
    new RuleExpression(
      'rules[0].match_expr',
      source,
      () => {
        compiled.push(source);
        return { ok: true, code: { source } };
      },
      memory,
    );
  return { compiled, of };
}

it('is compiled when it is first needed, and once', () => {
  const { compiled, of } = expressions(undefined);
  const [a, b] = [of('a'), of('b')];
  expect(compiled).toEqual([]);
  for (let round = 0; round < 3; round += 1) expect(b.code).toEqual({ source: 'b' });
  expect(a.check()).toBeUndefined();
  expect(a.code).toEqual({ source: 'a' });
  expect(compiled).toEqual(['b', 'a']);
});

it('is compiled again once the memory has forgotten it', () => {
  const { compiled, of } = expressions(new BoundedMemory(2 * shortestBytes()));
  const [a, b, c] = [of('a'), of('b'), of('c')];
  for (const expression of [a, b, a, c, b, a]) expect(expression.code).toBeDefined();
  expect(compiled.join('')).toBe('abca');
});

/** Memory of the shortest expression. */
function shortestBytes(): number {
  return new RuleExpression('', 'a', () => ({ ok: false, message: '' }), undefined).bytes;
}
