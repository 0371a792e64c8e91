import { add, compare, type Decimal, mul, sub, ZERO } from '../../../../kernel/decimal.js';
import type { Code } from '../code.js';
import { TIER_STEPS } from '../limits.js';
import type { Site } from '../site.js';
import type { Frame, Value } from '../value.js';
import { argument, type FunctionDefinition } from './definition.js';
import { tierNumber, tierQuantityOf } from './tier-number.js';

/** Prices each part of the quantity at the price of the tier it lies in. */
function graduated(quantity: Decimal, tiers: readonly Tier[]): Decimal | undefined {
  let amount = ZERO;
  let charged = ZERO;
  for (const { upTo, unitPrice } of tiers) {
    if (upTo === undefined || compare(quantity, upTo) <= 0) {
      return add(amount, mul(sub(quantity, charged), unitPrice));
    }
    amount = add(amount, mul(sub(upTo, charged), unitPrice));
    charged = upTo;
  }
  return undefined;
}

export const tierGraduated = tieredFunction('tier_graduated', graduated);

/** Prices the whole quantity at the price of the tier it reaches. */
function volume(quantity: Decimal, tiers: readonly Tier[]): Decimal | undefined {
  const reached = tiers.find(({ upTo }) => upTo === undefined || compare(quantity, upTo) <= 0);
  return reached && mul(quantity, reached.unitPrice);
}

export const tierVolume = tieredFunction('tier_volume', volume);

interface Tier {
  /** Inclusive; undefined for no bound. */
  readonly upTo: Decimal | undefined;
  readonly unitPrice: Decimal;
}

/** Returns the amount of a quantity by a table of tiers; undefined when the quantity is above the last bound. */
type TierPrice = (quantity: Decimal, tiers: readonly Tier[]) => Decimal | undefined;

const PAST_LAST = 'the quantity is past the bound of the last tier';
const TIERS_SHAPE = 'expected tiers as [[up_to, unit_price], …], the last up_to may be null';

/** `name(Decimal, [[up_to, unit_price], …]): Decimal` */
function tieredFunction(name: string, price: TierPrice): FunctionDefinition {
  return {
    name,
    signatures: [`${name}(Decimal, list): Decimal`],
    usage: `${name}(Decimal, [[up_to, unit_price], …])`,
    compile: (args, { site }) => {
      const quantity = tierQuantityOf(argument(args, 0));
      const tiers = tiersOf(argument(args, 1));
      return (env) => {
        const asked = quantity(env);
        const table = tiers(env);
        try {
          return price(asked, table) ?? site.fail(PAST_LAST);
        } catch (error) {
          return site.failDecimal(error);
        }
      };
    },
  };
}

/** Tiers are nearly always literals: they are then read, and refused, when the expression is saved. */
function tiersOf(code: Code): (env: Frame) => readonly Tier[] {
  const { run, site, constant } = code;
  if (constant === undefined) return (env) => parseTiers(run(env), site);
  const tiers = parseTiers(constant, site);
  return () => tiers;
}

function parseTiers(value: Value, site: Site): readonly Tier[] {
  if (!Array.isArray(value) || value.length === 0) return site.fail(TIERS_SHAPE);
  site.spend(value.length * TIER_STEPS);
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
