import { Environment } from '@marcbachmann/cel-js';
import { Decimal } from '../../../kernel/decimal.js';
import { FUNCTION_SIGNATURES } from './functions/index.js';
import { PARSER_DEPTH_MAX } from './limits.js';
import { type Node, nodeOf, type OpenNode } from './syntax.js';

/** Fields of `item`, by name; `unit_price` only where a unit price is known. */
export const ITEM_FIELDS = { quantity: 'Decimal', metric: 'string', unit: 'string' } as const;
export const SUBJECT_FIELDS = { type: 'string', id: 'string' } as const;
export const TOTAL_FIELDS = { quantity: 'Decimal' } as const;

/** cel-js only parses and checks here: its functions are never called at run time. */
const unused = () => null;

/**
 * The names in expressions about a charge item, whose `item` has a `unit_price` or not, and in those about the total of
 * a counter.
 */
export const ENVIRONMENTS = {
  withUnitPrice: createItemEnvironment({ ...ITEM_FIELDS, unit_price: 'Decimal' }),
  withoutUnitPrice: createItemEnvironment(ITEM_FIELDS),
  total: createEnvironment()
    .registerType('Total', { fields: { ...TOTAL_FIELDS } })
    .registerVariable('total', 'Total'),
} as const;

/** The variables that an expression may name, with their types. */
export type ExpressionNames = (typeof ENVIRONMENTS)[keyof typeof ENVIRONMENTS];

/** The part of cel-js's type checker that this module calls. */
export interface TypeChecker {
  check(node: Node, context: unknown): unknown;
  getType(name: string): unknown;
}

/** Replaces a node, before the type check, by a call of a function with the node as its argument. */
export function replaceWithCall(
  node: OpenNode,
  name: 'dec' | 'dyn',
  argument: string | readonly Node[],
): void {
  const { pos, start, end } = node;
  const sample = nodeOf(ENVIRONMENTS.withUnitPrice.parse(`${name}(${name === 'dec' ? '"0"' : '[]'})`).ast);
  const [, [inner]] = sample.args as [string, [OpenNode]];
  Object.assign(inner, { args: argument, pos, start, end });
  Object.assign(node, { op: sample.op, args: sample.args });
  Object.assign(node.meta, sample.meta);
}

function createItemEnvironment(itemFields: Readonly<Record<string, string>>): Environment {
  return createEnvironment()
    .registerType('Item', { fields: { ...itemFields } })
    .registerType('Subject', { fields: { ...SUBJECT_FIELDS } })
    .registerVariable('item', 'Item')
    .registerVariable('subject', 'Subject')
    .registerVariable('occurred_at', 'int');
}

function createEnvironment(): Environment {
  const environment = new Environment({
    // [[1000, "0.002"], [null, "0.001"]] mixes types.
    homogeneousAggregateLiterals: false,
    limits: { maxDepth: PARSER_DEPTH_MAX },
  })
    .registerType('Decimal', Decimal)
    .registerVariable('dimensions', 'map<string, dyn>');
  registerDecimalOperators(environment);
  for (const signature of FUNCTION_SIGNATURES) environment.registerFunction(signature, unused);
  return environment;
}

/**
 * Registers operators between decimals, and between a decimal and an operand whose type is known only at run time (a
 * dimension): such an operand may be an int or a double, which is then converted exactly. cel-js writes its type as
 * `dyn<Decimal>`.
 */
function registerDecimalOperators(environment: Environment): void {
  environment.registerOperator('-Decimal', unused);
  environment.registerOperator('Decimal == Decimal', unused);
  for (const number of ['int', 'double']) environment.registerOperator(`dyn<Decimal> == ${number}`, unused);
  for (const operator of ['+', '-', '*', '<', '<=', '>', '>=']) {
    const result = operator.length === 1 && '+-*'.includes(operator) ? 'Decimal' : 'bool';
    environment.registerOperator(`Decimal ${operator} Decimal: ${result}`, unused);
    for (const number of ['int', 'double']) {
      environment.registerOperator(`dyn<Decimal> ${operator} ${number}: ${result}`, unused);
      environment.registerOperator(`${number} ${operator} dyn<Decimal>: ${result}`, unused);
    }
  }
}
