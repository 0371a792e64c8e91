import type { Decimal } from '../../../../kernel/decimal.js';
import { asDecimal, type Code } from '../code.js';
import type { Site } from '../site.js';
import type { Run } from '../value.js';
import { argument, type FunctionDefinition } from './definition.js';

export type BinaryOperation = (a: Decimal, b: Decimal) => Decimal;

/** Exact arithmetic on two operands; the functions and the operators `+ - *` are both made of it. */
export function decimalOperation(
  operation: BinaryOperation,
  left: Code,
  right: Code,
  site: Site,
): Run<Decimal> {
  const { run: runLeft } = asDecimal(left);
  const { run: runRight, constant } = asDecimal(right);
  if (constant !== undefined) {
    return (env) => {
      const a = runLeft(env);
      try {
        return operation(a, constant);
      } catch (error) {
        return site.failDecimal(error);
      }
    };
  }
  return (env) => {
    const a = runLeft(env);
    const b = runRight(env);
    try {
      return operation(a, b);
    } catch (error) {
      return site.failDecimal(error);
    }
  };
}

/** `name(Decimal, Decimal): Decimal` */
export function binaryFunction(name: string, operation: BinaryOperation): FunctionDefinition {
  return {
    name,
    signatures: [`${name}(Decimal, Decimal): Decimal`],
    usage: `${name}(Decimal, Decimal)`,
    compile: (args, { site }) => decimalOperation(operation, argument(args, 0), argument(args, 1), site),
  };
}

/** `name(Decimal): Decimal`, for an operation that cannot fail. */
export function unaryFunction(name: string, operation: (a: Decimal) => Decimal): FunctionDefinition {
  return {
    name,
    signatures: [`${name}(Decimal): Decimal`],
    usage: `${name}(Decimal)`,
    compile: (args) => {
      const { run } = asDecimal(argument(args, 0));
      return (env) => operation(run(env));
    },
  };
}
