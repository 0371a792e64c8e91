import { divide, isZero } from '../../../../kernel/decimal.js';
import { asDecimal } from '../code.js';
import { argument, type FunctionDefinition } from './definition.js';
import { asScale } from './scale.js';

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
