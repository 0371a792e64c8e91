import { add, compare, Decimal, divide, mul, sign } from '../../../../kernel/decimal.js';
import { argument, type FunctionDefinition } from './definition.js';
import { TIER_NUMBER, tierNumberOf, tierQuantityOf } from './tier-number.js';

const ONE = new Decimal(1n, 0);

/** Returns the number of packages that contain the quantity; a started package counts as a whole one. */
export function startedPackages(quantity: Decimal, size: Decimal): Decimal {
  const nearest = divide(quantity, size, 0);
  return compare(mul(nearest, size), quantity) < 0 ? add(nearest, ONE) : nearest;
}

export const tierPackage: FunctionDefinition = {
  name: 'tier_package',
  signatures: ['tier_package(Decimal, dyn, dyn): Decimal'],
  usage: 'tier_package(Decimal, size, price)',
  compile: (args, { site }) => {
    const quantity = tierQuantityOf(argument(args, 0));
    const size = tierNumberOf(
      argument(args, 1),
      (value) => sign(value) > 0,
      'expected a size of more than 0',
    );
    const price = tierNumberOf(argument(args, 2), () => true, TIER_NUMBER);
    return (env) => {
      const asked = quantity(env);
      const each = size(env);
      const packagePrice = price(env);
      try {
        return mul(startedPackages(asked, each), packagePrice);
      } catch (error) {
        return site.failDecimal(error);
      }
    };
  },
};
