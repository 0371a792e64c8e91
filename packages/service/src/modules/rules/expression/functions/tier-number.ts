import { Decimal, decimalFromBigInt, parseDecimal, sign } from '../../../../kernel/decimal.js';
import { asDecimal, type Code, foldConstant } from '../code.js';
import type { Site } from '../site.js';
import { refuse } from '../syntax.js';
import type { Run, Value } from '../value.js';

export const TIER_NUMBER = 'expected an int, a decimal string or a decimal';

const NUMBER_TYPES: readonly string[] = ['int', 'string', 'Decimal', 'dyn'];

/** Reads a bound, size or price as price lists write them. A double is refused: its digits may not be those meant. */
export function tierNumber(value: Value, site: Site): Decimal {
  if (value instanceof Decimal) return value;
  if (typeof value === 'bigint') return decimalFromBigInt(value);
  const number = typeof value === 'string' ? parseDecimal(value) : undefined;
  return number ?? site.fail(TIER_NUMBER);
}

/** Compiles an argument that is such a number; a literal is checked at once. */
export function tierNumberOf(
  code: Code,
  isPermitted: (value: Decimal) => boolean,
  expectation: string,
): Run<Decimal> {
  const { run, site, node, type } = code;
  if (!NUMBER_TYPES.includes(type)) refuse(node, TIER_NUMBER);
  const read: Run<Decimal> = (env) => {
    const number = tierNumber(run(env), site);
    return isPermitted(number) ? number : site.fail(expectation);
  };
  return foldConstant({ ...code, type: 'Decimal', run: read }, [code], 'refuse').run as Run<Decimal>;
}

/** Compiles the priced quantity, which must not be negative: no price list defines a price for that. */
export function tierQuantityOf(code: Code): Run<Decimal> {
  const { run, site } = asDecimal(code);
  return (env) => {
    const quantity = run(env);
    return sign(quantity) < 0 ? site.fail('expected a quantity of 0 or more') : quantity;
  };
}
