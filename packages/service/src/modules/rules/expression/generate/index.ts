import { asBool, type Code, constantCode, foldConstant } from '../code.js';
import { findFunction } from '../functions/index.js';
import { isComprehension, isHas, type Node, refuse } from '../syntax.js';
import type { Value } from '../value.js';
import { generateHas, generateIndex, generateSelect, generateVariable } from './access.js';
import { generateBinary, generateNegation } from './binary.js';
import { generateLogic } from './logic.js';
import { generateMacro } from './macro.js';
import { codeOf, type Scope } from './scope.js';

/**
 * Compiles a checked tree to closures.
 * @throws Refusal or ExpressionError for what cannot work for any event
 */
export function generate(node: Node, scope: Scope): Code {
  switch (node.op) {
    case 'value':
      return constantCode(codeOf(node, scope), node.args as Value);
    case 'id':
      return generateVariable(node, scope);
    case '.':
      return generateSelect(node, scope, generate);
    case '[]':
      return generateIndex(node, scope, generate);
    case 'call':
      return isHas(node) ? generateHas(node, scope, generate) : generateCall(node, scope);
    case 'rcall':
      return isComprehension(node) ? generateMacro(node, scope, generate) : generateMethod(node, scope);
    case 'list':
      return generateList(node, scope);
    case 'map':
      return generateMap(node, scope);
    case '?:':
      return generateTernary(node, scope);
    case '&&':
    case '||':
      return generateLogic(node, scope, generate);
    case '!_':
      return generateNot(node, scope);
    case '-_':
      return generateNegation(node, scope, generate);
    default:
      return generateBinary(node, scope, generate);
  }
}

function generateCall(node: Node, scope: Scope): Code {
  const [name, args] = node.args as [string, readonly Node[]];
  return generateFunction(node, name, args, false, scope);
}

function generateMethod(node: Node, scope: Scope): Code {
  const [name, receiver, args] = node.args as [string, Node, readonly Node[]];
  return generateFunction(node, name, [receiver, ...args], true, scope);
}

function generateFunction(
  node: Node,
  name: string,
  args: readonly Node[],
  isMethod: boolean,
  scope: Scope,
): Code {
  const definition = findFunction(name, isMethod);
  if (definition === undefined) return refuse(node, `the function ${name}() is not supported`);
  const code = codeOf(node, scope);
  const parts = args.map((arg) => generate(arg, scope));
  return foldConstant({ ...code, run: definition.compile(parts, code) }, parts, 'refuse');
}

function generateList(node: Node, scope: Scope): Code {
  const parts = (node.args as readonly Node[]).map((element) => generate(element, scope));
  const runs = parts.map(({ run }) => run);
  return foldConstant({ ...codeOf(node, scope), run: (env) => runs.map((run) => run(env)) }, parts, 'keep');
}

function generateMap(node: Node, scope: Scope): Code {
  const entries = (node.args as readonly [Node, Node][]).map(
    ([key, value]) => [key.args as string, generate(value, scope)] as const,
  );
  const runs = entries.map(([key, { run }]) => [key, run] as const);
  return foldConstant(
    { ...codeOf(node, scope), run: (env) => new Map(runs.map(([key, run]) => [key, run(env)])) },
    entries.map(([, value]) => value),
    'keep',
  );
}

function generateTernary(node: Node, scope: Scope): Code {
  const [condition, whenTrue, whenFalse] = (node.args as readonly [Node, Node, Node]).map((part) =>
    generate(part, scope),
  ) as [Code, Code, Code];
  const { run: test } = asBool(condition);
  const { run: runTrue } = whenTrue;
  const { run: runFalse } = whenFalse;
  return foldConstant(
    { ...codeOf(node, scope), run: (env) => (test(env) ? runTrue(env) : runFalse(env)) },
    [condition, whenTrue, whenFalse],
    'keep',
  );
}

function generateNot(node: Node, scope: Scope): Code {
  const operand = generate(node.args as Node, scope);
  const { run } = asBool(operand);
  return foldConstant({ ...codeOf(node, scope), run: (env) => !run(env) }, [operand], 'keep');
}
