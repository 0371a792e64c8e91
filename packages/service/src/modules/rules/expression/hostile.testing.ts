import { Decimal } from '../../../kernel/decimal.js';
import type { ExpressionKind } from './compile-expression.js';
import { EventSteps } from './steps.js';
import type { DimensionValue, ExpressionEnv } from './value.js';

/** An expression that is meant to do harm, and its result for {@link hostileEnv}. */
export interface HostileExpression {
  readonly name: string;
  readonly kind: ExpressionKind;
  readonly source: string;
  /** Part of the reason why it fails for the event; or its value as text, if it is cheap after all. */
  readonly outcome: string;
}

const MEBIBYTE = 1_048_576;
const DIMENSIONS = 32;
/** The longest text that an expression can compute with. */
const TEXT_CHARS = 4_096;
const DIGITS = 400;

const STEPS = 'takes more than 10000 steps';
const LONG_TEXT = 'expected a string of at most 4096 characters';
const RANGE = 'the decimal is out of range';

/**
 * An event with 32 dimensions, most of them of a mebibyte, long texts that differ at their end, and decimals with the
 * maximum of digits.
 */
export function hostileEnv(): ExpressionEnv {
  const text = 'a'.repeat(TEXT_CHARS - 1);
  const many = new Decimal(10n ** BigInt(DIGITS) - 1n, 0);
  const fine = new Decimal(10n ** BigInt(DIGITS) - 1n, DIGITS);
  const dimensions = new Map<string, DimensionValue>([
    ['a', `${text}b`],
    ['b', `${text}c`],
    ['p', `${'a'.repeat(255)}c`],
    ['q', `${'a'.repeat(128)}c${'a'.repeat(127)}`],
    ['m', 'äB'.repeat(TEXT_CHARS / 2)],
    ['w', ' '.repeat(TEXT_CHARS)],
    ['digits', '9'.repeat(1_000_000)],
    ['n', '9'.repeat(DIGITS)],
    ['d', many],
    ['f', fine],
  ]);
  for (let index = dimensions.size; index < DIMENSIONS; index++) {
    dimensions.set(`big${index}`, `${'x'.repeat(MEBIBYTE)}${index}`);
  }
  return {
    quantity: many,
    unitPrice: fine,
    metric: 'llm.input_tokens',
    unit: 'token',
    dimensions,
    subject: { type: 'user', id: 'u'.repeat(255) },
    occurredAt: 1_790_000_000,
    // Each evaluation is measured by itself.
    steps: new EventSteps(Number.POSITIVE_INFINITY),
  };
}

/** Returns a part repeated until the source has its maximum length. */
function filled(part: string, separator: string, before = '', after = ''): string {
  const room = 2_048 - before.length - after.length;
  const count = Math.floor((room + separator.length) / (part.length + separator.length));
  return before + Array.from({ length: count }, () => part).join(separator) + after;
}

/** The same, with at most as many parts as one chain of operators may have. */
const chained = (part: string, operator: string, after = '') =>
  Array.from(
    { length: Math.min(240, Math.floor((2_000 - after.length) / (part.length + operator.length))) },
    () => part,
  ).join(operator) + after;

const repeated = (part: string, count: number) => Array.from({ length: count }, () => part).join(',');
const zeros = (count: number) => `[${repeated('0', count)}]`;
const D = 'dimensions';

const TEXTS: readonly HostileExpression[] = [
  ['contains on a mebibyte', `${D}.big31.contains("y")`, LONG_TEXT],
  ['startsWith on a mebibyte', `${D}.big31.startsWith("y")`, LONG_TEXT],
  ['endsWith on a mebibyte', `"y".endsWith(${D}.big31)`, LONG_TEXT],
  ['size of a mebibyte', `size(${D}.big31) > 0`, LONG_TEXT],
  ['mebibytes compared', `${D}.big30 == ${D}.big31`, LONG_TEXT],
  ['mebibytes ordered', `${D}.big30 < ${D}.big31`, LONG_TEXT],
  ['a mebibyte beside a literal', `${D}.big31 == "x"`, 'false'],
  ['a mebibyte looked up', `${D}.big31 in ${D}`, 'false'],
  ['a mebibyte as a key', `${D}[${D}.big31] == 1`, 'there is no such key'],
  ['all mebibytes', `${D}.exists(k, k.startsWith("big") && ${D}[k].contains("y"))`, LONG_TEXT],
  ['text doubled', chained(`${D}.a`, '+', '== ""'), LONG_TEXT],
  ['a slow search', chained(`${D}.a.contains(${D}.p)`, '||'), 'false'],
  ['a slow search from the middle', chained(`${D}.a.contains(${D}.q)`, '||'), 'false'],
  ['long text equal but for its end', chained(`${D}.a==${D}.b`, '||'), 'false'],
  ['long text compared', chained(`${D}.a>${D}.b`, '||'), 'false'],
  ['letters lowered one by one', chained(`${D}.m.lowerAscii()==""`, '||'), 'false'],
  ['white space', chained(`${D}.w.trim()!=""`, '||'), STEPS],
  ['characters counted', chained(`size(${D}.a)<1`, '||'), STEPS],
  ['a slow search in a macro', `${zeros(300)}.exists(x, ${D}.a.contains(${D}.p))`, STEPS],
  ['letters lowered in a macro', `${zeros(80)}.exists(x, ${D}.m.lowerAscii()=="")`, STEPS],
  ['long keys in a macro', `${zeros(300)}.exists(x, (${D}.a + "") in ${D})`, STEPS],
  ['half-long keys in a macro', `${zeros(300)}.exists(x, (${D}.p + ${D}.q) in ${D})`, STEPS],
].map(([name, source, outcome]) => ({ name, source, outcome, kind: 'match' }) as HostileExpression);

const LISTS: readonly HostileExpression[] = [
  ['a macro over a long list', `${zeros(900)}.exists(x, x > 1)`, STEPS],
  ['a macro as long as may be', `${zeros(450)}.exists(x, x > 1)`, 'false'],
  ['many macros', chained(`${zeros(60)}.all(x,x<1)`, '&&'), STEPS],
  [
    'a list made in every round',
    `${zeros(200)}.map(x, ${zeros(40)}) == ${zeros(5)}.map(x, ${zeros(5)})`,
    'false',
  ],
  [
    'lists of lists compared',
    `${zeros(300)}.map(x,${zeros(20)}) == ${zeros(300)}.map(x,${zeros(20)})`,
    STEPS,
  ],
  ['a list in each round', `${zeros(400)}.exists(x, 1 in ${zeros(400)})`, STEPS],
  [
    'a list that grows with every addition',
    `[${zeros(400)}].exists(x, size(${chained('x', '+').slice(0, 477)}) < 0)`,
    STEPS,
  ],
  [
    'failures in every round',
    `${zeros(300)}.exists(x, ${D}.no1 || ${D}.no2)`,
    'the event has no dimension no2',
  ],
  ['a failure in every operand', chained(`${D}.x==1`, '||'), 'the event has no dimension x'],
  ['decimals converted in every round', `${zeros(300)}.exists(x, string(${D}.d) == string(${D}.f))`, STEPS],
  ['decimals of other scales in every round', `${zeros(400)}.exists(x, ${D}.d < ${D}.f)`, 'false'],
  [
    'doubles found in a list',
    `[[${repeated('1e-300', 150)}]].exists(l, ${D}.d in l || ${D}.f in l)`,
    'false',
  ],
  [
    'decimals found in a list in every round',
    `[[${repeated(`${D}.f`, 100)}]].exists(l, ${D}.d in l)`,
    'false',
  ],
  [
    'decimals out of range in every round',
    `[${repeated('dec("1e300")', 120)}].exists(x, ${D}.f * x < x)`,
    RANGE,
  ],
  ['decimals found in a list', filled(`${D}.f`, ',', `${D}.d in [`, ']'), 'false'],
  ['a division in every round', `${zeros(200)}.exists(x, dec_div(${D}.f, ${D}.d, 38) > ${D}.d)`, 'false'],
  ['many conversions', chained(`dec(${D}.n)<dec(1)`, '||'), 'false'],
  ['many fractions compared', chained(`${D}.f>${D}.d`, '||'), 'false'],
  ['doubles read in every round', `${zeros(230)}.exists(x, double(${D}.n) < 0.0)`, 'false'],
].map(([name, source, outcome]) => ({ name, source, outcome, kind: 'match' }) as HostileExpression);

const DECIMALS: readonly HostileExpression[] = [
  ['digits that double', `${'dec_mul('.repeat(40)}item.quantity${', item.quantity)'.repeat(40)}`, RANGE],
  ['a square of a square', 'item.quantity * item.quantity * (item.quantity * item.quantity)', RANGE],
  ['fractions that double', 'dec_mul(item.unit_price, item.unit_price)', RANGE],
  ['a million digits as text', `dec(${D}.digits)`, 'dec() expects a number'],
  ['a mebibyte as a number', `dec(${D}.big31)`, 'dec() expects a number'],
  ['the largest quotient', 'dec_div(item.quantity, item.unit_price, 38)', RANGE],
  ['many quotients', filled('dec_div(item.unit_price, item.quantity, 38)', '+'), '0'],
  ['long sums', chained('item.unit_price', '-'), RANGE],
  ['sums of all digits', chained('item.quantity', '+'), RANGE],
  ['nested rounding', `${'dec_ceil('.repeat(60)}item.unit_price${', 38)'.repeat(60)}`, '1'],
  [
    'as many tiers as fit',
    `tier_graduated(dec("1e9"), [${Array.from({ length: 200 }, (_, n) => `[${n + 1},${n}]`).join(',')},[null,1]])`,
    '1000019700',
  ],
  [
    'tiers that are known only now',
    filled(`[${D}.d,${D}.f]`, ',', 'tier_graduated(item.quantity, [', ',[null, 1]])'),
    'up_to must rise',
  ],
  [
    'the same tiers in every operand',
    `[[${Array.from({ length: 60 }, (_, n) => `[${n + 1},"1e-200"]`).join(',')},[null,1]]].map(t, ${chained('tier_volume(dec(1),t)', '+').slice(0, 593)})[0]`,
    STEPS,
  ],
  ['packages without number', 'tier_package(item.quantity, "1e-300", 1)', RANGE],
].map(([name, source, outcome]) => ({ name, source, outcome, kind: 'amount' }) as HostileExpression);

/** The costliest expressions that can be saved, as far as is known. */
export const HOSTILE_EXPRESSIONS: readonly HostileExpression[] = [...TEXTS, ...LISTS, ...DECIMALS];
