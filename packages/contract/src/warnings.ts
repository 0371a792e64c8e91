import { type Static, Type } from 'typebox';
import { closed } from './common.js';

/**
 * Every warning that a response can have, with its message; `{name}` is replaced by the name in question. A
 * request with a warning is carried out: the name may be correct, and its usage may not have arrived yet.
 */
export const WARNINGS = {
  unknown_metric: { message: 'No usage of the project has the metric `{name}` yet. Check its spelling.' },
  unknown_dimension: {
    message: 'No usage of the project has the dimension `{name}` yet. Check its spelling.',
  },
  metric_not_extracted: {
    message:
      'The extractor rule set produces no charge items of the metric `{name}`: its prices apply only to ' +
      '`x-billing.items` of events.',
  },
  unknown_event_type: {
    message:
      'Neither the service nor a limit rule of the project sends the event `{name}` yet. Check its spelling.',
  },
  unknown_subject_type: {
    message:
      'No usage and no extractor of the project has the subject type `{name}` yet. Check its spelling.',
  },
  no_route: {
    message:
      'The subject `{name}` has no route: it has no limits, and its usage is not charged to an account.',
  },
} as const satisfies Record<string, { readonly message: string }>;

/** Stable machine-readable name of a warning. */
export type WarningCode = keyof typeof WARNINGS;

export const WarningCodeSchema = Type.Unsafe<WarningCode>({
  type: 'string',
  enum: Object.keys(WARNINGS),
  description: 'Stable code of the warning, for programs. docs/errors.md lists all.',
});

export const Warning = Type.Object(
  {
    code: WarningCodeSchema,
    name: Type.String({ description: 'The name in question, as it was sent.' }),
    message: Type.String({ description: 'Explanation of the warning, for people.' }),
  },
  { ...closed, description: 'A name in the request that does not occur in the project yet.' },
);
export type Warning = Static<typeof Warning>;

export const Warnings = Type.Array(Warning, {
  description: 'Warnings about names in the request, which was carried out; empty if there are none.',
});

/** Upper bound of the warnings of one kind in a response. */
export const WARNINGS_MAX = 20;

/** Returns a warning of the code about each of the first names. */
export function warningsOf(code: WarningCode, names: Iterable<string>): Warning[] {
  return [...new Set(names)].slice(0, WARNINGS_MAX).map((name) => warningOf(code, name));
}

/** Returns the warning of a code about a name. */
export function warningOf(code: WarningCode, name: string): Warning {
  return { code, name, message: WARNINGS[code].message.replace('{name}', () => name) };
}
