import { DIMENSION_NAME_PATTERN, DIMENSION_VALUE_CHARS_MAX, type DimensionConfig } from '@tollgate/contract';
import { decimalFromJson, NumericText } from '../../../kernel/json.js';
import type { DimensionValue } from '../expression/index.js';
import { RatingFailure, type RatingFailureCode } from './failure.js';
import type { Issues } from './issues.js';
import type { ReadPath } from './path.js';

export interface CompiledDimension {
  readonly name: string;
  /** Undefined when the event does not have it and need not. */
  readonly read: (rawJson: unknown) => DimensionValue | undefined | RatingFailure;
}

const DIMENSION_NAME = new RegExp(DIMENSION_NAME_PATTERN);

export function compileDimensions(configs: readonly DimensionConfig[], issues: Issues): CompiledDimension[] {
  const firstByName = new Map<string, string>();
  return configs.map((config, index) => {
    const path = `dimensions[${index}]`;
    const { name } = config;
    if (!DIMENSION_NAME.test(name))
      issues.add(`${path}.name`, `expected text that matches ${DIMENSION_NAME_PATTERN}`);
    const first = firstByName.get(name);
    if (first === undefined) firstByName.set(name, path);
    else issues.add(`${path}.name`, `the dimension ${name} is already defined by ${first}`);
    const read = issues.path(config.path, `${path}.path`) ?? nothing;
    return { name, read: readerOf(config, path, read) };
  });
}

/** Stands in for a path that is wrong, so that the search for issues goes on. */
export const nothing: ReadPath = () => undefined;

function readerOf(config: DimensionConfig, path: string, read: ReadPath): CompiledDimension['read'] {
  const { name, type } = config;
  const failure = (code: RatingFailureCode, text: string) => new RatingFailure(code, text, path);
  const absent =
    config.required === true
      ? failure('dimension_missing', `The event lacks the required dimension ${name}.`)
      : undefined;
  const mismatch = failure('dimension_type_mismatch', `The dimension ${name} is not a ${type}.`);
  const tooLong = failure(
    'dimension_too_long',
    `The dimension ${name} is longer than ${DIMENSION_VALUE_CHARS_MAX} characters (DIMENSION_VALUE_CHARS_MAX).`,
  );
  const outOfRange = failure('decimal_out_of_range', `The dimension ${name} has too many digits.`);
  if (type === 'number') {
    return (rawJson) => {
      const value = read(rawJson);
      if (typeof value === 'number' || value instanceof NumericText)
        return decimalFromJson(value) ?? outOfRange;
      return value === undefined || value === null ? absent : mismatch;
    };
  }
  return (rawJson) => {
    const value = read(rawJson);
    if (typeof value === type) {
      return typeof value === 'string' && value.length > DIMENSION_VALUE_CHARS_MAX
        ? tooLong
        : (value as string | boolean);
    }
    return value === undefined || value === null ? absent : mismatch;
  };
}
