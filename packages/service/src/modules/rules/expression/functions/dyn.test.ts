import { expect, it } from 'vitest';
import { outcomeOf } from '../testing.js';

it.each([
  ['dyn(1) == 1.0', 'true'],
  ['dyn("a") == 1', 'false'],
  ['dyn(item.quantity) > 1000', 'true'],
  ['dyn([1])[0] == 1', 'true'],
  ['dyn(dimensions)["model"] == "gpt-4o"', 'true'],
  ['dyn(true) && true', 'true'],
  ['dyn(1) && true', 'refused: line 1, column 1: expected bool'],
  [
    'dyn("a") + dyn(1) == "a1"',
    'fails: line 1, column 1: expected two numbers, strings or lists of one type for +',
  ],
  ['dyn() == 1', "refused: line 1, column 1: found no matching overload for 'dyn()'; expected dyn(value)"],
  [
    'dyn(1, 2) == 1',
    "refused: line 1, column 1: found no matching overload for 'dyn(int, int)'; expected dyn(value)",
  ],
  ['dyn(item) == 1', 'refused: line 1, column 5: expected a field of item: quantity, metric, unit'],
  [
    'dyn(true)',
    'refused: line 1, column 1: expected an expression of type bool, found dyn; compare it, as in … == true',
  ],
])('%s is %s', (source, outcome) => {
  expect(outcomeOf(source, 'match')).toBe(outcome);
});
