import {
  add,
  compare,
  Decimal,
  decimalFromBigInt,
  divide,
  mul,
  parseDecimal,
  sign,
  sub,
  ZERO,
} from '../../../../kernel/decimal.js';
import { asDecimal, type Code, fold } from '../code.js';
import type { Site } from '../site.js';
import { refuse } from '../syntax.js';
import type { Frame, Run, Value } from '../value.js';
import { argument, type FunctionDefinition } from './definition.js';

interface Tier {
  /** Inclusive; undefined for no bound. */
  readonly upTo: Decimal | undefined;
  readonly unitPrice: Decimal;
}

const ONE = new Decimal(1n, 0);
const PAST_LAST = 'the quantity is past the bound of the last tier';
const TIERS_SHAPE = 'expected tiers as [[up_to, unit_price], …], the last up_to may be null';
const TIER_NUMBER = 'expected an int, a decimal string or a decimal';

/** Each part of the quantity at the price of the tier it lies in. */
function graduated(quantity: Decimal, tiers: readonly Tier[], site: Site): Decimal {
  let amount = ZERO;
  let charged = ZERO;
  for (const { upTo, unitPrice } of tiers) {
    if (upTo === undefined || compare(quantity, upTo) <= 0) {
      return add(amount, mul(sub(quantity, charged), unitPrice));
    }
    amount = add(amount, mul(sub(upTo, charged), unitPrice));
    charged = upTo;
  }
  return site.fail(PAST_LAST);
}

/** The whole quantity at the price of the tier it reaches. */
function volume(quantity: Decimal, tiers: readonly Tier[], site: Site): Decimal {
  for (const { upTo, unitPrice } of tiers) {
    if (upTo === undefined || compare(quantity, upTo) <= 0) return mul(quantity, unitPrice);
  }
  return site.fail(PAST_LAST);
}

/** As many packages as hold the quantity; a started one counts whole. */
function packages(quantity: Decimal, size: Decimal, price: Decimal): Decimal {
  const nearest = divide(quantity, size, 0);
  const count = compare(mul(nearest, size), quantity) < 0 ? add(nearest, ONE) : nearest;
  return mul(count, price);
}

function tierNumber(value: Value, site: Site): Decimal {
  const number =
    value instanceof Decimal
      ? value
      : typeof value === 'string'
        ? parseDecimal(value)
        : typeof value === 'bigint'
          ? decimalFromBigInt(value)
          : undefined;
  return number ?? site.fail(TIER_NUMBER);
}

function parseTiers(value: Value, site: Site): readonly Tier[] {
  if (!Array.isArray(value) || value.length === 0) return site.fail(TIERS_SHAPE);
  let previous = ZERO;
  return value.map((entry: Value, index) => {
    if (!Array.isArray(entry) || entry.length !== 2) return site.fail(TIERS_SHAPE);
    const [bound, price] = entry as [Value, Value];
    const unitPrice = tierNumber(price, site);
    if (bound === null) {
      if (index < value.length - 1) site.fail('only the last tier may have no bound');
      return { upTo: undefined, unitPrice };
    }
    const upTo = tierNumber(bound, site);
    if (compare(upTo, previous) <= 0) site.fail('up_to must rise from tier to tier, from more than 0');
    previous = upTo;
    return { upTo, unitPrice };
  });
}

function quantityOf(code: Code): Run<Decimal> {
  const { run, site } = asDecimal(code);
  return (env) => {
    const quantity = run(env);
    return sign(quantity) < 0 ? site.fail('expected a quantity of 0 or more') : quantity;
  };
}

function tiered(name: string, price: typeof graduated): FunctionDefinition {
  return {
    name,
    signatures: [`${name}(Decimal, list): Decimal`],
    usage: `${name}(Decimal, [[up_to, unit_price], …])`,
    compile: (args, { site }) => {
      const quantity = quantityOf(argument(args, 0));
      const tiers = tiersOf(argument(args, 1));
      return (env) => {
        const asked = quantity(env);
        const table = tiers(env);
        try {
          return price(asked, table, site);
        } catch (error) {
          return site.failDecimal(error);
        }
      };
    },
  };
}

/** Tiers are nearly always written out: they are then read, and refused, when the expression is saved. */
function tiersOf(code: Code): (env: Frame) => readonly Tier[] {
  const { run, site, constant } = code;
  if (constant === undefined) return (env) => parseTiers(run(env), site);
  const tiers = parseTiers(constant, site);
  return () => tiers;
}

const NUMBER_TYPES: readonly string[] = ['int', 'string', 'Decimal', 'dyn'];

function numberOf(code: Code, isPermitted: (value: Decimal) => boolean, expectation: string): Run<Decimal> {
  const { run, site, node, type } = code;
  if (!NUMBER_TYPES.includes(type)) refuse(node, TIER_NUMBER);
  const read: Run<Decimal> = (env) => {
    const number = tierNumber(run(env), site);
    return isPermitted(number) ? number : site.fail(expectation);
  };
  return fold({ ...code, type: 'Decimal', run: read }, [code], 'refuse').run as Run<Decimal>;
}

const packaged: FunctionDefinition = {
  name: 'tier_package',
  signatures: ['tier_package(Decimal, dyn, dyn): Decimal'],
  usage: 'tier_package(Decimal, size, price)',
  compile: (args, { site }) => {
    const quantity = quantityOf(argument(args, 0));
    const size = numberOf(argument(args, 1), (value) => sign(value) > 0, 'expected a size of more than 0');
    const price = numberOf(argument(args, 2), () => true, TIER_NUMBER);
    return (env) => {
      const asked = quantity(env);
      const each = size(env);
      const packagePrice = price(env);
      try {
        return packages(asked, each, packagePrice);
      } catch (error) {
        return site.failDecimal(error);
      }
    };
  },
};

export const TIERS: readonly FunctionDefinition[] = [
  tiered('tier_graduated', graduated),
  tiered('tier_volume', volume),
  packaged,
];
