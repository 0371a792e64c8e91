import { compare } from '../../../../kernel/decimal.js';
import { asDecimal } from '../code.js';
import { argument, type FunctionDefinition } from './definition.js';

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
