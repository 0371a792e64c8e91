import {
  abs,
  add,
  ceil,
  compare,
  type Decimal,
  divide,
  floor,
  isZero,
  max,
  min,
  mul,
  neg,
  round,
  sub,
} from '../../../../kernel/decimal.js';
import { asDecimal, asInt, type Code, foldConstant } from '../code.js';
import { SCALE_ARGUMENT_MAX } from '../limits.js';
import type { Site } from '../site.js';
import type { Run } from '../value.js';
import { argument, type FunctionDefinition } from './definition.js';

/** The exact sum. */
export const decAdd = binaryFunction('dec_add', add);

/** The exact difference. */
export const decSub = binaryFunction('dec_sub', sub);

/** The exact product. */
export const decMul = binaryFunction('dec_mul', mul);

/** The quotient, half-even to a number of fraction digits: most quotients have no last digit. */
export const decDiv: FunctionDefinition = {
  name: 'dec_div',
  signatures: ['dec_div(Decimal, Decimal, int): Decimal'],
  usage: 'dec_div(Decimal, Decimal, scale)',
  compile: (args, { site }) => {
    const { run: runDividend } = asDecimal(argument(args, 0));
    const divisor = asDecimal(argument(args, 1));
    const { run: runScale } = asScale(argument(args, 2));
    if (divisor.constant !== undefined && isZero(divisor.constant)) divisor.site.fail('division by zero');
    const { run: runDivisor } = divisor;
    return (env) => {
      const dividend = runDividend(env);
      const by = runDivisor(env);
      const digits = runScale(env);
      try {
        return divide(dividend, by, digits);
      } catch (error) {
        return site.failDecimal(error);
      }
    };
  },
};

/** The value with the other sign. */
export const decNeg = unaryFunction('dec_neg', neg);

/** The value without its sign. */
export const decAbs = unaryFunction('dec_abs', abs);

/** The lesser of two; the first of equal ones. */
export const decMin = binaryFunction('dec_min', min);

/** The greater of two; the first of equal ones. */
export const decMax = binaryFunction('dec_max', max);

/** Half-even to a number of fraction digits. */
export const decRound = roundingFunction('dec_round', round);

/** Down, toward negative infinity, to a number of fraction digits. */
export const decFloor = roundingFunction('dec_floor', floor);

/** Up, toward positive infinity, to a number of fraction digits. */
export const decCeil = roundingFunction('dec_ceil', ceil);

/** -1, 0 or 1: the first is less than, equal to or greater than the second. */
export const decCmp: FunctionDefinition = {
  name: 'dec_cmp',
  signatures: ['dec_cmp(Decimal, Decimal): int'],
  usage: 'dec_cmp(Decimal, Decimal)',
  compile: (args) => {
    const { run: runLeft } = asDecimal(argument(args, 0));
    const { run: runRight } = asDecimal(argument(args, 1));
    return (env) => BigInt(compare(runLeft(env), runRight(env)));
  },
};

type BinaryOperation = (a: Decimal, b: Decimal) => Decimal;

/** Exact arithmetic on two operands, for the functions and the operators `+ - *`. */
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
function binaryFunction(name: string, operation: BinaryOperation): FunctionDefinition {
  return {
    name,
    signatures: [`${name}(Decimal, Decimal): Decimal`],
    usage: `${name}(Decimal, Decimal)`,
    compile: (args, { site }) => decimalOperation(operation, argument(args, 0), argument(args, 1), site),
  };
}

/** `name(Decimal): Decimal`, for an operation that cannot fail. */
function unaryFunction(name: string, operation: (a: Decimal) => Decimal): FunctionDefinition {
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

/** `name(Decimal, scale): Decimal` */
function roundingFunction(
  name: string,
  operation: (a: Decimal, scale: number) => Decimal,
): FunctionDefinition {
  return {
    name,
    signatures: [`${name}(Decimal, int): Decimal`],
    usage: `${name}(Decimal, scale)`,
    compile: (args, { site }) => {
      const { run } = asDecimal(argument(args, 0));
      const { run: runScale } = asScale(argument(args, 1));
      return (env) => {
        const value = run(env);
        const digits = runScale(env);
        try {
          return operation(value, digits);
        } catch (error) {
          return site.failDecimal(error);
        }
      };
    },
  };
}

/** A number of fraction digits that is given as an int; a literal is checked at once. */
function asScale(code: Code): Code<number> {
  const { run, site } = asInt(code);
  const checked: Run<number> = (env) => {
    const scale = run(env);
    if (scale >= 0n && scale <= SCALE_ARGUMENT_MAX) return Number(scale);
    return site.fail(`expected a scale from 0 to ${SCALE_ARGUMENT_MAX} fraction digits`);
  };
  return foldConstant({ ...code, run: checked }, [code], 'refuse') as Code<number>;
}
