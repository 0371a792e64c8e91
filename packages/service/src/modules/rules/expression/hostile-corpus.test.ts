import { DIMENSION_VALUE_CHARS_MAX } from '@tollgate/contract';
import { expect, it } from 'vitest';
import { HOSTILE_EXPRESSIONS, hostileEnv } from './hostile.testing.js';
import { compileExpression } from './index.js';
import { OPERATION_STEPS, STEPS_MAX, STRING_CHARS_MAX } from './limits.js';
import { evaluated } from './testing.js';

const env = hostileEnv();

it.each(HOSTILE_EXPRESSIONS)('$name: $outcome', ({ source, kind, outcome }) => {
  expect(evaluated(source, kind, env)).toContain(outcome);
});

it('restarts counting for every evaluation', () => {
  const source = `[${'0,'.repeat(450)}0].exists(x, x > 1)`;
  const compiled = compileExpression(source, { kind: 'match' });
  if (!compiled.ok) throw new Error(compiled.issue.message);
  for (let round = 0; round < 3; round += 1) expect(compiled.evaluate(env)).toBe(false);
});

it('counts the macros of an expression together', () => {
  const roundSteps = OPERATION_STEPS + 2;
  const list = `[${'0,'.repeat(Math.floor(STEPS_MAX / roundSteps / 2) - 1)}0]`;
  const macro = `${list}.exists(x, x > 1)`;
  const [one, two] = [macro, `${macro} || ${macro}`];
  expect(two.length).toBeLessThan(2_048);
  expect(evaluated(one, 'match', env)).toBe('false');
  expect(evaluated(two, 'match', env)).toBe('false');
  expect(evaluated(`${two} || [0,0,0].exists(x, x > 1)`, 'match', env)).toMatch(
    /takes more than 10000 steps/,
  );
});

it('counts the characters of long text, however often it is used', () => {
  const uses = (count: number) =>
    `[${'0,'.repeat(count - 1)}0].exists(x, dimensions.a.startsWith("x") && dimensions.a.endsWith("y"))`;
  expect([STRING_CHARS_MAX, DIMENSION_VALUE_CHARS_MAX]).toEqual([4_096, 4_096]);
  expect(evaluated(uses(50), 'match', env)).toBe('false');
  expect(evaluated(uses(75), 'match', env)).toMatch(/takes more than 10000 steps/);
});
