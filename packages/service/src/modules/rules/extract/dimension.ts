import { DIMENSION_NAME_PATTERN, DIMENSION_VALUE_CHARS_MAX, type DimensionConfig } from '@tollgate/contract';
import { toUsableText } from '../../../kernel/usable-text.js';
import type { DimensionValue } from '../expression/index.js';
import { RatingFailure, type RatingFailureCode } from './failure.js';
import type { Issues } from './issues.js';
import { compileNumberDimension } from './number-dimension.js';
import type { ReadPath } from './path.js';

export interface CompiledDimension {
  readonly name: string;
  /** Returns undefined when the event lacks the dimension and does not need it. */
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
    return { name, read: compileReader(config, path, issues) };
  });
}

/** Replaces an invalid path, so that the search for issues continues. */
export const nothing: ReadPath = () => undefined;

function compileReader(config: DimensionConfig, path: string, issues: Issues): CompiledDimension['read'] {
  const { name, type, required, sum_paths: sumPaths = [] } = config;
  const absent =
    required === true
      ? new RatingFailure('dimension_missing', `The event lacks the required dimension ${name}.`, path)
      : undefined;
  const readPath = issues.path(config.path, `${path}.path`);
  if (type === 'number') {
    if (config.path === undefined && sumPaths.length === 0)
      issues.add(`${path}.path`, 'expected a path, or sum_paths');
    const read = compileNumberDimension(config, path, readPath, issues);
    return (rawJson) => read(rawJson) ?? absent;
  }
  if (config.path === undefined) issues.add(`${path}.path`, 'expected a path');
  for (const field of ['sum_paths', 'bands'] as const) {
    if (config[field] !== undefined)
      issues.add(`${path}.${field}`, `expected none: only a dimension of the type number has ${field}`);
  }
  return readerOf(config, path, readPath ?? nothing, absent);
}

function readerOf(
  { name, type }: DimensionConfig,
  path: string,
  read: ReadPath,
  absent: RatingFailure | undefined,
): CompiledDimension['read'] {
  const failure = (code: RatingFailureCode, text: string) => new RatingFailure(code, text, path);
  const mismatch = failure('dimension_type_mismatch', `The dimension ${name} is not a ${type}.`);
  const tooLong = failure(
    'dimension_too_long',
    `The dimension ${name} is longer than ${DIMENSION_VALUE_CHARS_MAX} characters (DIMENSION_VALUE_CHARS_MAX).`,
  );
  return (rawJson) => {
    const value = read(rawJson);
    if (typeof value === type) {
      if (typeof value !== 'string') return value as boolean;
      // Counters keep dimensions in PostgreSQL, whose text has no NUL; ClickHouse alters lone surrogates.
      return value.length > DIMENSION_VALUE_CHARS_MAX ? tooLong : toUsableText(value);
    }
    return value === undefined || value === null ? absent : mismatch;
  };
}
