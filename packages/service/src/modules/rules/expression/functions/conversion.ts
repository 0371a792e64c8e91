import { Decimal, toText } from '../../../../kernel/decimal.js';
import { type Code, TEXT_TOO_LONG } from '../code.js';
import { INT_MAX, INT_MIN, STRING_CHARS_MAX } from '../limits.js';
import type { Site } from '../site.js';
import { refuse, type StaticType } from '../syntax.js';
import type { Value } from '../value.js';
import { argument, type FunctionDefinition } from './definition.js';

const INT_TEXT = /^-?[0-9]{1,19}$/;
const DOUBLE_TEXT = /^-?[0-9]{1,400}(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,3})?$/;

/** Cuts the fraction off, as CEL does for doubles. */
function toInt(value: Value): bigint | undefined {
  const int = untrimmedInt(value);
  return int !== undefined && int >= INT_MIN && int <= INT_MAX ? int : undefined;
}

function untrimmedInt(value: Value): bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? BigInt(Math.trunc(value)) : undefined;
  if (typeof value === 'string') return INT_TEXT.test(value) ? BigInt(value) : undefined;
  return value instanceof Decimal ? value.coefficient / 10n ** BigInt(value.scale) : undefined;
}

function toDouble(value: Value): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'string' && DOUBLE_TEXT.test(value) ? Number(value) : undefined;
}

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

/** In characters (code points) of a string, elements of a list, keys of a map. */
function sizeOf(value: Value, site: Site): bigint {
  if (typeof value === 'string') {
    if (value.length > STRING_CHARS_MAX) site.fail(TEXT_TOO_LONG);
    return BigInt(Array.from(value).length);
  }
  if (Array.isArray(value)) return BigInt(value.length);
  return value instanceof Map ? BigInt(value.size) : site.fail('size() expects a string, list or map');
}

function conversion(
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
      const code = argument(args, 0);
      assertType(code, from, expectation);
      return (env) => convert(code.run(env)) ?? site.fail(`${expectation} that can be converted`);
    },
  };
}

function assertType(code: Code, permitted: readonly StaticType[], expectation: string): void {
  if (code.type !== 'dyn' && !permitted.includes(code.type)) {
    refuse(code.node, `${expectation}, found ${code.type}`);
  }
}

function size(method: boolean): FunctionDefinition {
  return {
    name: 'size',
    ...(method && { method }),
    signatures: [],
    usage: method ? '(string | list | map).size()' : 'size(string | list | map)',
    compile: (args, { site }) => {
      const code = argument(args, 0);
      assertType(code, ['string', 'list', 'map'], 'size() expects string, list or map');
      return (env) => sizeOf(code.run(env), site);
    },
  };
}

export const CONVERSION: readonly FunctionDefinition[] = [
  conversion('int', ['int', 'double', 'string', 'Decimal'], ['int(Decimal): int'], toInt),
  conversion('double', ['double', 'int', 'string'], [], toDouble),
  conversion(
    'string',
    ['string', 'int', 'double', 'bool', 'Decimal'],
    ['string(Decimal): string'],
    toTextValue,
  ),
  { name: 'dyn', signatures: [], usage: 'dyn(value)', compile: (args) => argument(args, 0).run },
  size(false),
  size(true),
];
