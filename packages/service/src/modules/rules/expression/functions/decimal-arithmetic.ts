import {
  abs,
  add,
  type Decimal,
  divide,
  isZero,
  max,
  min,
  mul,
  neg,
  sub,
} from '../../../../kernel/decimal.js';
import { asDecimal, type Code } from '../code.js';
import type { Site } from '../site.js';
import type { Run } from '../value.js';
import { asScale } from './decimal-rounding.js';
import { argument, type FunctionDefinition } from './definition.js';

type BinaryOperation = (a: Decimal, b: Decimal) => Decimal;

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

function binary(name: string, operation: BinaryOperation): FunctionDefinition {
  return {
    name,
    signatures: [`${name}(Decimal, Decimal): Decimal`],
    usage: `${name}(Decimal, Decimal)`,
    compile: (args, { site }) => decimalOperation(operation, argument(args, 0), argument(args, 1), site),
  };
}

function unary(name: string, operation: (a: Decimal) => Decimal): FunctionDefinition {
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

/** Half-even to the given number of fraction digits. */
const decimalDivision: FunctionDefinition = {
  name: 'dec_div',
  signatures: ['dec_div(Decimal, Decimal, int): Decimal'],
  usage: 'dec_div(Decimal, Decimal, scale)',
  compile: (args, { site }) => {
    const { run: runDividend } = asDecimal(argument(args, 0));
    const divisor = asDecimal(argument(args, 1));
    const { run: runScale } = asScale(argument(args, 2));
    if (divisor.constant !== undefined && isZero(divisor.constant)) divisor.site.fail('division by zero');
    return (env) => {
      const dividend = runDividend(env);
      const by = divisor.run(env);
      const digits = runScale(env);
      try {
        return divide(dividend, by, digits);
      } catch (error) {
        return site.failDecimal(error);
      }
    };
  },
};

export const DECIMAL_ARITHMETIC: readonly FunctionDefinition[] = [
  binary('dec_add', add),
  binary('dec_sub', sub),
  binary('dec_mul', mul),
  binary('dec_min', min),
  binary('dec_max', max),
  unary('dec_neg', neg),
  unary('dec_abs', abs),
  decimalDivision,
];
