import { expect, it } from 'vitest';
import { compileExpression, textConditions } from './index.js';

function conditionsOf(source: string): string {
  const compiled = compileExpression(source, { kind: 'match' });
  if (!compiled.ok) throw new Error(`${source}: ${compiled.issue.message}`);
  return textConditions(source)
    .map(({ dimension, text }) => `${dimension}=${text}`)
    .join(',');
}

it.each([
  ['dimensions.a == "x"', 'a=x'],
  [` dimensions . a=="x"&&dimensions['b']\n ==\t'y' `, 'a=x,b=y'],
  [`dimensions["a.b"] == "x" && (dimensions.a == "y" && 'z' == dimensions.c) && true`, 'a.b=x,a=y,c=z'],
  ['((dimensions.a == "x")) && ((dimensions.b == "y") && item.quantity > dec(1))', 'a=x,b=y'],
  ['(dimensions.a == "x") && (dimensions.b == "y" || true)', 'a=x'],
  ['dimensions.a == "x" && [1, 2].exists(n, n > 1 || n < 0)', 'a=x'],
  ['dimensions.a == "x" && (true ? false : true)', 'a=x'],
  ['dimensions.a == "x" && dimensions.a == "y"', 'a=x'],
  ['dimensions.constructor == "x" && item.quantity > dec(1)', 'constructor=x'],
  ['dimensions.a == "&& dimensions.b ==" && dimensions.c == "\'(["', "a=&& dimensions.b ==,c='(["],
  ['dimensions.a == "é😀" && dimensions.b == ""', 'a=é😀,b='],
  ['dimensions.a == r"x" && dimensions.b == "y"', 'b=y'],
])('finds the texts at the top level of the chain of &&: %s', (source, found) => {
  expect(conditionsOf(source)).toBe(found);
});

it.each([
  'true',
  'dimensions.a == "x" || dimensions.b == "y"',
  'dimensions.a == "x" && dimensions.b == "y" || true',
  'true || dimensions.a == "x" && dimensions.b == "y"',
  '(dimensions.a == "x" && dimensions.b == "y") == false',
  'dimensions.a == "x" && dimensions.b == "y" ? false : true',
  'true ? dimensions.a == "x" : false',
  'true ? false : dimensions.a == "x" && dimensions.b == "y"',
  '!(dimensions.a == "x")',
  '!(dimensions.a == "x") == true',
  '(dimensions.a == "x") == false',
  'dimensions.a == "x" == true',
  'false == (dimensions.a == "x")',
  'dimensions.a != "x"',
  'dimensions.a.b == "x"',
  'dimensions.a + "y" == "x"',
  '"x" + dimensions.a == "x"',
  'dimensions[dimensions.a] == "x"',
  'dimensions.a.lowerAscii() == "x"',
  'dimensions.a == "x" + "y"',
  'dimensions.a == ["x"][0]',
  'dimensions.a == 1',
  'dimensions.a == dimensions.b',
  '{"a": "x"}.a == "x"',
  'subject.id == "x"',
  '"dimensions.a" == "x"',
  '["x"].exists(dimensions, dimensions == "x")',
  '[{"a": "x"}].exists(dimensions, dimensions.a == "x" && true)',
  'dimensions.a == "\\u0078"',
  'true // && dimensions.a == "x"',
  '"// x" == "y" && dimensions.a == "x"',
  'dimensions.a == """x""" && """y""" == "y"',
  '""" && dimensions.a == "x" && """ == "y"',
])('finds none where there may be none: %s', (source) => {
  expect(conditionsOf(source)).toBe('');
});
