import { ceil, compare, type Decimal, floor, round } from '../../../../kernel/decimal.js';
import { asDecimal, asInt, type Code, fold } from '../code.js';
import { SCALE_ARGUMENT_MAX } from '../limits.js';
import type { Run } from '../value.js';
import { argument, type FunctionDefinition } from './definition.js';

/** A number of fraction digits that is given as an int; one that is written out is checked at once. */
export function asScale(code: Code): Code<number> {
  const { run, site } = asInt(code);
  const checked: Run<number> = (env) => {
    const scale = run(env);
    if (scale >= 0n && scale <= SCALE_ARGUMENT_MAX) return Number(scale);
    return site.fail(`expected a scale from 0 to ${SCALE_ARGUMENT_MAX} fraction digits`);
  };
  return fold({ ...code, run: checked }, [code], 'refuse') as Code<number>;
}

function rounding(name: string, operation: (a: Decimal, scale: number) => Decimal): FunctionDefinition {
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

/** -1n, 0n or 1n: the first is less than, equal to or greater than the second. */
const comparison: FunctionDefinition = {
  name: 'dec_cmp',
  signatures: ['dec_cmp(Decimal, Decimal): int'],
  usage: 'dec_cmp(Decimal, Decimal)',
  compile: (args) => {
    const { run: runLeft } = asDecimal(argument(args, 0));
    const { run: runRight } = asDecimal(argument(args, 1));
    return (env) => BigInt(compare(runLeft(env), runRight(env)));
  },
};

export const DECIMAL_ROUNDING: readonly FunctionDefinition[] = [
  rounding('dec_round', round),
  rounding('dec_floor', floor),
  rounding('dec_ceil', ceil),
  comparison,
];
