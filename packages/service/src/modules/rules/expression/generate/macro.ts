import { asBool, type Code } from '../code.js';
import type { Site } from '../site.js';
import { type Node, refuse } from '../syntax.js';
import { ExpressionError, type Frame, type Run, type Value } from '../value.js';
import { codeOf, type Generate, type Scope } from './scope.js';
import { stepsOf } from './weight.js';

/** Compiles `range.exists(variable, predicate)` and the like; the range is a list, or the keys of a map. */
export function generateMacro(node: Node, scope: Scope, generate: Generate): Code {
  const [name, range, [variable, ...bodies]] = node.args as [string, Node, readonly Node[]];
  const { run: runRange } = generate(range, scope);
  const inner = { ...scope, element: variable?.args as string };
  const [first, second] = bodies.map((body) => generate(body, inner));
  if (first === undefined) return refuse(node, `${name}() expects a variable and an expression`);
  const code = codeOf(node, scope);
  const stepsEach = bodies.reduce((sum, body) => sum + stepsOf(body), 0);
  const { site } = code;
  const elements = (env: Frame) => elementsOf(runRange(env), stepsEach, site);
  switch (name) {
    case 'exists':
      return { ...code, run: quantifier(elements, asBool(first).run, true) };
    case 'all':
      return { ...code, run: quantifier(elements, asBool(first).run, false) };
    case 'exists_one':
      return { ...code, run: existsOne(elements, asBool(first).run) };
    case 'filter':
      return { ...code, run: filter(elements, asBool(first).run) };
    case 'map':
      return second === undefined
        ? { ...code, run: map(elements, first.run) }
        : { ...code, run: map(filter(elements, asBool(first).run), second.run) };
    default:
      return refuse(node, `${name}() is not supported`);
  }
}

type Elements = (env: Frame) => readonly Value[];

function elementsOf(range: Value, stepsEach: number, site: Site): readonly Value[] {
  const elements = range instanceof Map ? [...range.keys()] : range;
  if (!Array.isArray(elements)) return site.fail('expected a list or map to go through');
  site.spend(elements.length * stepsEach);
  return elements;
}

/** Joins all elements by `||` (deciding: true) or `&&` (deciding: false), errors included. */
function quantifier(elements: Elements, predicate: Run<boolean>, deciding: boolean): Run<boolean> {
  return (env) => {
    let failure: ExpressionError | undefined;
    for (const element of elements(env)) {
      try {
        if (predicate({ ...env, element }) === deciding) return deciding;
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error;
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
    return !deciding;
  };
}

function existsOne(elements: Elements, predicate: Run<boolean>): Run<boolean> {
  return (env) => elements(env).filter((element) => predicate({ ...env, element })).length === 1;
}

function filter(elements: Elements, predicate: Run<boolean>): Run<readonly Value[]> {
  return (env) => elements(env).filter((element) => predicate({ ...env, element }));
}

function map(elements: Elements, transform: Run): Run<readonly Value[]> {
  return (env) => elements(env).map((element) => transform({ ...env, element }));
}
