import { Decimal, decimalFromBigInt } from '../../../kernel/decimal.js';
import { STEP_CHARS, STRING_CHARS_MAX } from './limits.js';
import { decimalOfDouble } from './number-literal.js';
import type { Site } from './site.js';
import { type Node, refuse, type StaticType } from './syntax.js';
import { type ExpressionEnv, ExpressionError, type Run, type Value } from './value.js';

/**
 * A compiled node of the checked tree. Everything that `run` refers to stays in memory as long as the expression does,
 * so it must not be a Code: the tree takes more memory than everything else.
 */
export interface Code<T extends Value = Value> {
  readonly node: Node;
  /** The place at which its failures are reported. */
  readonly site: Site;
  readonly type: StaticType;
  readonly run: Run<T>;
  /** Its value, when it depends on no variable. */
  readonly constant?: T;
}

/** Never read: constants are code that reads no variable. */
const NO_ENV = {} as ExpressionEnv;

export function constantCode<T extends Value>(code: Omit<Code, 'run' | 'constant'>, value: T): Code<T> {
  return { ...code, run: () => value, constant: value };
}

/**
 * Computes code that depends on constants only, once and now. `onFailure` says what to do with a constant that cannot
 * be computed: CEL's own operators may still skip it (`false && 1 / 0 > 0`), while a price that can never be computed
 * is a mistake.
 * @throws ExpressionError for such a mistake
 */
export function foldConstant(code: Code, parts: readonly Code[], onFailure: 'keep' | 'refuse'): Code {
  if (parts.some((part) => part.constant === undefined)) return code;
  try {
    return constantCode(code, code.run(NO_ENV));
  } catch (error) {
    if (error instanceof ExpressionError && onFailure === 'keep') return code;
    throw error;
  }
}

/**
 * Returns an operand as a decimal. Types that the type check could not know are checked at run time, and numbers are
 * converted exactly.
 */
export function asDecimal(code: Code): Code<Decimal> {
  if (code.type === 'Decimal') return code as Code<Decimal>;
  if (code.type === 'int' || code.type === 'double') {
    refuse(code.node, `expected Decimal, found ${code.type}; write dec(…)`);
  }
  return narrowed(code, 'Decimal', toDecimal, 'expected a decimal');
}

/** Returns the exact decimal of a number; undefined for anything else, including text and doubles with two readings. */
export function toDecimal(value: Value): Decimal | undefined {
  if (value instanceof Decimal) return value;
  if (typeof value === 'bigint') return decimalFromBigInt(value);
  return typeof value === 'number' ? decimalOfDouble(value) : undefined;
}

export const TEXT_TOO_LONG = `expected a string of at most ${STRING_CHARS_MAX} characters`;

/** Returns the text itself, if it is short enough to compute with. */
export function boundedText(text: string, site: Site): string {
  if (text.length > STRING_CHARS_MAX) return site.fail(TEXT_TOO_LONG);
  if (text.length >= STEP_CHARS) site.spend(Math.floor(text.length / STEP_CHARS));
  return text;
}

export function asText(code: Code): Code<string> {
  const text = narrowed(code, 'string', (value) => (typeof value === 'string' ? value : undefined));
  const { run, site } = text;
  return text.constant === undefined ? { ...text, run: (env) => boundedText(run(env), site) } : text;
}

export function asInt(code: Code): Code<bigint> {
  return narrowed(code, 'int', (value) => (typeof value === 'bigint' ? value : undefined));
}

export function asBool(code: Code): Code<boolean> {
  return narrowed(code, 'bool', (value) => (typeof value === 'boolean' ? value : undefined));
}

/** Relies on what the type check has proved, refuses what it has disproved, and checks the rest for each event. */
function narrowed<T extends Value>(
  code: Code,
  type: StaticType,
  narrow: (value: Value) => T | undefined,
  expectation = `expected ${type}`,
): Code<T> {
  if (code.type === type) return code as Code<T>;
  if (code.type !== 'dyn') refuse(code.node, `expected ${type}, found ${code.type}`);
  const { run, site } = code;
  const checked: Code = { ...code, type, run: (env) => narrow(run(env)) ?? site.fail(expectation) };
  return foldConstant(checked, [code], 'refuse') as Code<T>;
}
