import { expect, it } from 'vitest';
import { compileExpression, EventSteps, EventStepsError } from './index.js';
import { OPERATION_STEPS, STEPS_MAX } from './limits.js';
import { envWith, matchOf } from './testing.js';

const zeros = (count: number) => `[${'0,'.repeat(count - 1)}0]`;
/** Its own parts have more than 400 steps, and its rounds more than 8,000. */
const COSTLY = `${zeros(400)}.exists(x, x > 1)`;

function evaluate(source: string, steps: EventSteps): boolean {
  const compiled = compileExpression(source, { kind: 'match' });
  if (!compiled.ok) throw new Error(compiled.issue.message);
  return compiled.evaluate(envWith({ steps }));
}

it.each([
  ['the other operand of ||', `${COSTLY} || true`],
  ['the other operand of &&', `${COSTLY} && false`],
  ['a later round', `[1, 2].exists(x, x == 2 || ${zeros(400)} == ${zeros(399)})`],
  ['the other branch', `${COSTLY} ? true : true`],
  ['a failure', `${COSTLY} || dimensions.absent`],
])('nothing decides once the steps of the event have run out: %s', (_, source) => {
  const enough = new EventSteps(2 * STEPS_MAX);
  if (!source.includes('absent')) expect(typeof evaluate(source, enough)).toBe('boolean');
  expect(() => evaluate(source, new EventSteps(2_000))).toThrow(EventStepsError);
});

it('takes the parts of an expression from the event before it is evaluated', () => {
  const source = 'true == (occurred_at > 1)';
  const steps = 2 * OPERATION_STEPS + 3;
  expect(evaluate(source, new EventSteps(steps))).toBe(true);
  expect(() => evaluate(source, new EventSteps(steps - 1))).toThrow(EventStepsError);
});

it('an evaluation that takes too many fails by its own bound, and leaves the event the rest', () => {
  const source = `${zeros(900)}.exists(x, x > 1)`;
  const steps = new EventSteps(STEPS_MAX);
  expect(() => evaluate(source, steps)).toThrow(`takes more than ${STEPS_MAX} steps`);
  expect(matchOf('1 == 1', envWith({ steps }))).toBe('true');
});
