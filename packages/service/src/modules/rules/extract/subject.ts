import { IDENTIFIER_CHARS_MAX, SUBJECT_TYPE_PATTERN, type SubjectConfig } from '@tollgate/contract';
import type { SubjectValue } from '../expression/index.js';
import { RatingFailure } from './failure.js';
import type { Issues } from './issues.js';
import type { ReadPath } from './path.js';

/** Returns undefined when the event has no complete subject and does not need one. */
export type ReadSubject = (rawJson: unknown) => SubjectValue | undefined | RatingFailure;

const SUBJECT_TYPE = new RegExp(SUBJECT_TYPE_PATTERN);
/** Characters that PostgreSQL cannot hold in text: NUL, and halves of surrogate pairs. */
const UNSTORABLE = /[\0\p{Surrogate}]/u;

const INCOMPLETE = new RatingFailure(
  'subject_missing',
  'The rule set requires a subject; the event and the defaults do not yield both a type and an ID.',
  'subject',
);
const INVALID_TYPE = new RatingFailure(
  'subject_invalid',
  `The subject type is not a string that matches ${SUBJECT_TYPE_PATTERN}.`,
  'subject.type_path',
);
const INVALID_ID = new RatingFailure(
  'subject_invalid',
  `The subject ID is not a string of 1 to ${IDENTIFIER_CHARS_MAX} characters without NUL or lone surrogates.`,
  'subject.id_path',
);

export function compileSubject(config: SubjectConfig, issues: Issues): ReadSubject {
  const defaultType = config.default_type;
  const defaultId = config.default_id;
  if (!isEmpty(defaultType) && !isSubjectType(defaultType)) {
    issues.add('subject.default_type', `expected text that matches ${SUBJECT_TYPE_PATTERN}`);
  }
  if (!isEmpty(defaultId) && !isSubjectId(defaultId)) {
    issues.add(
      'subject.default_id',
      `expected at most ${IDENTIFIER_CHARS_MAX} characters without NUL or lone surrogates`,
    );
  }
  const readType = readField(issues.path(config.type_path, 'subject.type_path'), defaultType, isSubjectType);
  const readId = readField(issues.path(config.id_path, 'subject.id_path'), defaultId, isSubjectId);
  const incomplete = config.required === true ? INCOMPLETE : undefined;
  return (rawJson) => {
    const type = readType(rawJson);
    if (type === INVALID) return INVALID_TYPE;
    const id = readId(rawJson);
    if (id === INVALID) return INVALID_ID;
    return type === undefined || id === undefined ? incomplete : { type, id };
  };
}

const INVALID = Symbol('invalid');

/** Reads one half of the pair: the value of the event, or the default. */
function readField(
  read: ReadPath | undefined,
  fallback: string | undefined,
  isValid: (value: unknown) => value is string,
): (rawJson: unknown) => string | undefined | typeof INVALID {
  const absent = isEmpty(fallback) ? undefined : fallback;
  if (read === undefined) return () => absent;
  return (rawJson) => {
    const value = read(rawJson);
    if (isEmpty(value)) return absent;
    return isValid(value) ? value : INVALID;
  };
}

function isEmpty(value: unknown): value is undefined | null | '' {
  return value === undefined || value === null || value === '';
}

function isSubjectType(value: unknown): value is string {
  return typeof value === 'string' && SUBJECT_TYPE.test(value);
}

function isSubjectId(value: unknown): value is string {
  return typeof value === 'string' && hasIdLength(value) && !UNSTORABLE.test(value);
}

/** Characters are code points; a string has at least half as many as its length. */
function hasIdLength(id: string): boolean {
  if (id.length <= IDENTIFIER_CHARS_MAX) return id.length > 0;
  return id.length <= 2 * IDENTIFIER_CHARS_MAX && Array.from(id).length <= IDENTIFIER_CHARS_MAX;
}
