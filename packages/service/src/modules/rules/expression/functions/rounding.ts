import type { Decimal } from '../../../../kernel/decimal.js';
import { asDecimal } from '../code.js';
import { argument, type FunctionDefinition } from './definition.js';
import { asScale } from './scale.js';

/** `name(Decimal, scale): Decimal` */
export function roundingFunction(
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
