import { add, compare, Decimal, equals, mul, neg, sub } from '../../../../kernel/decimal.js';
import { boundedText, type Code, constantCode, foldConstant, TEXT_TOO_LONG, toDecimal } from '../code.js';
import { equalValues, orderValues } from '../equality.js';
import { decimalOperation } from '../functions/index.js';
import { ELEMENT_STEPS, INT_MAX, INT_MIN, STRING_CHARS_MAX } from '../limits.js';
import { decimalsOf, writtenDecimal } from '../number-literal.js';
import type { Site } from '../site.js';
import { type Node, refuse } from '../syntax.js';
import type { Run, Value } from '../value.js';
import { codeOf, type Generate, type Scope } from './scope.js';

type Order = (order: number) => boolean;

const ORDERS: Readonly<Record<string, Order>> = {
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

const EXACT = { '+': add, '-': sub, '*': mul } as const;

/** A binary operator that is neither `&&` nor `||`. */
export function generateBinary(node: Node, scope: Scope, generate: Generate): Code {
  const [first, second] = (node.args as readonly [Node, Node]).map((part) => generate(part, scope)) as [
    Code,
    Code,
  ];
  const code = codeOf(node, scope);
  const left = besideDecimal(node.op, first, second, scope);
  const right = besideDecimal(node.op, second, first, scope);
  assertSameKind(node, left, right);
  return foldConstant({ ...code, run: binaryRun(node.op, left, right, code.site) }, [left, right], 'keep');
}

function binaryRun(operator: string, left: Code, right: Code, site: Site): Run {
  const order = ORDERS[operator];
  if (order !== undefined) return ordering(order, left, right, site);
  switch (operator) {
    case '==':
      return equality(left, right, true, site);
    case '!=':
      return equality(left, right, false, site);
    case 'in':
      return membership(left.run, right.run, site);
    default:
      return arithmetic(operator, left, right, site);
  }
}

/**
 * Turns a literal number next to a decimal into a decimal with the digits of its text. The same is done for a double in
 * arithmetic with a value whose type is known only for the event (a dimension), because the double would have two
 * readings.
 */
function besideDecimal(operator: string, code: Code, other: Code, { source }: Scope): Code {
  const { args } = code.node;
  const isAmbiguous =
    typeof args === 'number' && operator in EXACT && other.type === 'dyn' && decimalsOf(args).length > 1;
  if (other.type !== 'Decimal' && !isAmbiguous) return code;
  const written = writtenDecimal(code.node, source);
  return written === undefined ? code : constantCode({ ...code, type: 'Decimal' }, written);
}

/** Decimals may be mixed with other numbers only where a type is not known before the event. */
function assertSameKind(node: Node, left: Code, right: Code): void {
  const types = [left.type, right.type];
  if (types.includes('Decimal') && (types.includes('int') || types.includes('double'))) {
    const number = left.type === 'Decimal' ? right : left;
    refuse(number.node, `no ${left.type} ${node.op} ${right.type}; expected Decimal, write dec(…)`);
  }
  if (node.op === '+' && types.includes('list')) assertSameElements(node, left.node, right.node);
}

/** The type check takes the element type of `left + right` from one list; both must have the same. */
function assertSameElements(node: Node, left: Node, right: Node): void {
  const [found, other] = [left, right].map(({ checkedType }) => checkedType?.name);
  if (found !== other) refuse(node, `expected two lists of one type, found ${found} and ${other}`);
}

function ordering(order: Order, left: Code, right: Code, site: Site): Run<boolean> {
  const { run: runLeft } = left;
  const { run: runRight } = right;
  if (left.type === 'Decimal' && right.type === 'Decimal') {
    return (env) => order(compare(runLeft(env) as Decimal, runRight(env) as Decimal));
  }
  return (env) => {
    const found = orderValues(runLeft(env), runRight(env), site);
    return found !== undefined && order(found);
  };
}

function equality(left: Code, right: Code, wanted: boolean, site: Site): Run<boolean> {
  const { run: runLeft } = left;
  const { run: runRight, constant } = right;
  if (left.type === 'Decimal' && right.type === 'Decimal') {
    return (env) => equals(runLeft(env) as Decimal, runRight(env) as Decimal) === wanted;
  }
  if (typeof constant === 'string') return (env) => (runLeft(env) === constant) === wanted;
  return (env) => equalValues(runLeft(env), runRight(env), site) === wanted;
}

function membership(runValue: Run, runContainer: Run, site: Site): Run<boolean> {
  return (env) => isMember(runValue(env), runContainer(env), site);
}

function isMember(value: Value, container: Value, site: Site): boolean {
  if (container instanceof Map) return container.has(value);
  if (!Array.isArray(container)) return site.fail('expected a list or map after in');
  site.spend(container.length * ELEMENT_STEPS);
  return container.some((element: Value) => equalValues(value, element, site));
}

function arithmetic(operator: string, left: Code, right: Code, site: Site): Run {
  const exact = EXACT[operator as keyof typeof EXACT];
  if (exact !== undefined && left.type === 'Decimal' && right.type === 'Decimal') {
    return decimalOperation(exact, left, right, site);
  }
  const { run: runLeft } = left;
  const { run: runRight } = right;
  return (env) => {
    const a = runLeft(env);
    const b = runRight(env);
    if (typeof a === 'bigint' && typeof b === 'bigint') return intArithmetic(operator, a, b, site);
    if (typeof a === 'number' && typeof b === 'number') return doubleArithmetic(operator, a, b, site);
    if (exact !== undefined && (a instanceof Decimal || b instanceof Decimal)) {
      return mixedArithmetic(exact, a, b, site);
    }
    return operator === '+' ? join(a, b, site) : site.fail(`expected numbers of one type for ${operator}`);
  };
}

function mixedArithmetic(
  exact: (a: Decimal, b: Decimal) => Decimal,
  a: Value,
  b: Value,
  site: Site,
): Decimal {
  const left = toDecimal(a);
  const right = toDecimal(b);
  if (left === undefined || right === undefined) return site.fail('expected two numbers');
  try {
    return exact(left, right);
  } catch (error) {
    return site.failDecimal(error);
  }
}

function intArithmetic(operator: string, a: bigint, b: bigint, site: Site): bigint {
  const result = exactInt(operator, a, b, site);
  return result >= INT_MIN && result <= INT_MAX ? result : site.fail('the int overflows 64 bits');
}

function exactInt(operator: string, a: bigint, b: bigint, site: Site): bigint {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    default:
      if (b === 0n) return site.fail('division by zero');
      return operator === '/' ? a / b : a % b;
  }
}

function doubleArithmetic(operator: string, a: number, b: number, site: Site): number {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    default:
      return site.fail('% expects ints');
  }
}

/** `+` of strings and of lists. */
function join(a: Value, b: Value, site: Site): Value {
  if (typeof a === 'string' && typeof b === 'string') {
    // Before they are joined: text may double with every addition.
    if (a.length + b.length > STRING_CHARS_MAX) return site.fail(TEXT_TOO_LONG);
    return boundedText(a + b, site);
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    site.spend(a.length + b.length);
    return [...a, ...b];
  }
  return site.fail('expected two numbers, strings or lists of one type for +');
}

/** Unary minus. */
export function generateNegation(node: Node, scope: Scope, generate: Generate): Code {
  const operand = generate(node.args as Node, scope);
  const code = codeOf(node, scope);
  const { run } = operand;
  const { site } = code;
  const negate: Run = (env) => {
    const value = run(env);
    if (value instanceof Decimal) return neg(value);
    if (typeof value === 'number') return -value;
    if (typeof value !== 'bigint') return site.fail('expected a number');
    return value === INT_MIN ? site.fail('the int overflows 64 bits') : -value;
  };
  return foldConstant({ ...code, run: negate }, [operand], 'keep');
}
