import { Decimal, parseDecimal, toText } from '../../../../kernel/decimal.js';
import { toDecimal } from '../code.js';
import { INT_MAX, INT_MIN } from '../limits.js';
import { refuse, type StaticType } from '../syntax.js';
import type { Value } from '../value.js';
import { argument, type FunctionDefinition } from './definition.js';

const CONVERTIBLE: readonly string[] = ['string', 'int', 'double', 'Decimal', 'dyn'];

/** Returns the decimal that a text, number or decimal denotes; undefined when it denotes none. */
function decimalOf(value: Value): Decimal | undefined {
  return typeof value === 'string' ? parseDecimal(value) : toDecimal(value);
}

/** The only way to make a decimal. Text is read in the grammar of JSON's numbers. */
export const dec: FunctionDefinition = {
  name: 'dec',
  signatures: ['dec(string): Decimal', 'dec(int): Decimal', 'dec(double): Decimal', 'dec(Decimal): Decimal'],
  usage: 'dec(string | int | double | Decimal)',
  compile: (args, { site }) => {
    const { run, type, node } = argument(args, 0);
    if (!CONVERTIBLE.includes(type)) refuse(node, `dec() expects a string, int or double, found ${type}`);
    return (env) => decimalOf(run(env)) ?? site.fail('dec() expects a number such as "0.25"');
  },
};

const INT_TEXT = /^-?[0-9]{1,19}$/;

function toInt(value: Value): bigint | undefined {
  const int = unboundedInt(value);
  return int !== undefined && int >= INT_MIN && int <= INT_MAX ? int : undefined;
}

function unboundedInt(value: Value): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return isBelowBounds(value) ? BigInt(Math.trunc(value)) : undefined;
  if (typeof value === 'string') return INT_TEXT.test(value) ? BigInt(value) : undefined;
  return value instanceof Decimal ? value.coefficient / 10n ** BigInt(value.scale) : undefined;
}

/** CEL converts no double that is as large as either bound, because a neighbour of it may be meant. */
function isBelowBounds(double: number): boolean {
  return Math.abs(double) < -Number(INT_MIN);
}

/** Truncates the fraction, as CEL does for doubles. */
export const int = conversionFunction(
  'int',
  ['int', 'double', 'string', 'Decimal'],
  ['int(Decimal): int'],
  toInt,
);

const DOUBLE_TEXT = /^-?[0-9]{1,400}(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,3})?$/;

function toDouble(value: Value): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'string' && DOUBLE_TEXT.test(value) ? Number(value) : undefined;
}

/** Returns the nearest double. Decimals are refused: an exact value must not become inexact unnoticed. */
export const double = conversionFunction('double', ['double', 'int', 'string'], [], toDouble);

function toTextValue(value: Value): string | undefined {
  if (value instanceof Decimal) return toText(value);
  switch (typeof value) {
    case 'string':
      return value;
    case 'bigint':
    case 'boolean':
    case 'number':
      return String(value);
    default:
      return undefined;
  }
}

/** Decimals as the API writes them: `12.5`, no exponent, no trailing zeros. */
export const string = conversionFunction(
  'string',
  ['string', 'int', 'double', 'bool', 'Decimal'],
  ['string(Decimal): string'],
  toTextValue,
);

/** Returns the value itself; its type is then checked for each event instead of when the expression is saved. */
export const dyn: FunctionDefinition = {
  name: 'dyn',
  signatures: [],
  usage: 'dyn(value)',
  compile: (args) => argument(args, 0).run,
};

/** `name(value)`, for values of the types in `from`; `convert` yields undefined for one that it cannot convert. */
function conversionFunction(
  name: string,
  from: readonly StaticType[],
  signatures: readonly string[],
  convert: (value: Value) => Value | undefined,
): FunctionDefinition {
  const expectation = `${name}() expects ${from.join(', ')}`;
  return {
    name,
    signatures,
    usage: `${name}(${from.join(' | ')})`,
    compile: (args, { site }) => {
      const { run, type, node } = argument(args, 0);
      if (type !== 'dyn' && !from.includes(type)) refuse(node, `${expectation}, found ${type}`);
      return (env) => convert(run(env)) ?? site.fail(`${expectation} that can be converted`);
    },
  };
}
