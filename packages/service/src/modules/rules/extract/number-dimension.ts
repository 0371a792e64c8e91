import { type DimensionConfig, SUM_NODES_MAX } from '@tollgate/contract';
import { compare, type Decimal, parseDecimal, sign, ZERO } from '../../../kernel/decimal.js';
import { decimalFromJson, NumericText } from '../../../kernel/json/json.js';
import { RatingFailure, type RatingFailureCode } from './failure.js';
import type { Issues } from './issues.js';
import type { ReadPath } from './path.js';
import type { ReadNodes } from './sum-path.js';
import { addUp, type ReadPart } from './total.js';

/**
 * Reads the sum of `path` and `sum_paths`, rounded down to one of `bands`; undefined where the event has no
 * number at any of them.
 */
export function compileNumberDimension(
  { name, sum_paths: sumPaths = [], bands: sentBands }: DimensionConfig,
  at: string,
  readPath: ReadPath | undefined,
  issues: Issues,
): ReadPart {
  const failure = (code: RatingFailureCode, text: string) => new RatingFailure(code, text, at);
  const mismatch = failure('dimension_type_mismatch', `The dimension ${name} is not a number.`);
  const outOfRange = failure('decimal_out_of_range', `The dimension ${name} has too many digits.`);
  const tooManyEntries = failure(
    'dimension_list_too_long',
    `A path of the dimension ${name} looks at more than ${SUM_NODES_MAX} entries (SUM_NODES_MAX).`,
  );
  const numberOf: ReadPart = (value) => {
    if (typeof value === 'number' || value instanceof NumericText)
      return decimalFromJson(value) ?? outOfRange;
    return value === undefined || value === null ? undefined : mismatch;
  };
  const sumOf =
    (read: ReadNodes): ReadPart =>
    (rawJson) => {
      const nodes = read(rawJson);
      return nodes === undefined ? tooManyEntries : addUp(nodes, numberOf, outOfRange);
    };
  const terms = [
    ...(readPath === undefined ? [] : [(rawJson: unknown) => numberOf(readPath(rawJson))]),
    ...issues.sumPaths(sumPaths, `${at}.sum_paths`).map(sumOf),
  ];
  const [only, ...others] = terms;
  const read: ReadPart =
    only !== undefined && others.length === 0
      ? only
      : (rawJson) => addUp(terms, (term) => term(rawJson), outOfRange);
  if (sentBands === undefined) return read;
  const bands = compileBands(sentBands, `${at}.bands`, issues);
  return (rawJson) => {
    const value = read(rawJson);
    return value === undefined || value instanceof RatingFailure ? value : bandOf(value, bands);
  };
}

function compileBands(
  sent: NonNullable<DimensionConfig['bands']>,
  at: string,
  issues: Issues,
): readonly Decimal[] {
  const bands: Decimal[] = [];
  for (const [index, bound] of sent.entries()) {
    const band = parseDecimal(String(bound));
    const before = bands.at(-1);
    if (band === undefined || sign(band) <= 0)
      issues.add(`${at}[${index}]`, 'expected a decimal above 0, such as 200001 or "0.5"');
    else if (before !== undefined && compare(band, before) <= 0)
      issues.add(`${at}[${index}]`, 'expected more than the band before it: bands are in ascending order');
    else bands.push(band);
  }
  return bands;
}

/** The greatest band that is not above the value; 0 below all of them. */
function bandOf(value: Decimal, bands: readonly Decimal[]): Decimal {
  return bands.findLast((band) => compare(band, value) <= 0) ?? ZERO;
}
