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

/**
 * Returns a warning of the code about each of the first names.
 *
 * @param known names that are known, of which the nearest one is proposed
 */
export function warningsOf(
  code: WarningCode,
  names: Iterable<string>,
  known: Iterable<string> = [],
): Warning[] {
  const candidates = [...known];
  return [...new Set(names)].slice(0, WARNINGS_MAX).map((name) => warningOf(code, name, candidates));
}

/** Returns the warning of a code about a name. */
export function warningOf(code: WarningCode, name: string, known: readonly string[] = []): Warning {
  const message = WARNINGS[code].message.replace('{name}', () => name);
  const near = nearestName(name, known);
  return { code, name, message: near === undefined ? message : `${message} Did you mean \`${near}\`?` };
}

/** Two names are near if at most one of so many characters differs. */
const CHARACTERS_PER_EDIT = 4;

/** Returns the known name with the fewest different characters, the first of several; undefined if none is near. */
function nearestName(name: string, known: readonly string[]): string | undefined {
  let nearest: string | undefined;
  let least = Math.max(1, Math.floor(name.length / CHARACTERS_PER_EDIT)) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= least) continue;
    const edits = editsBetween(name.toLowerCase(), candidate.toLowerCase());
    if (edits >= least) continue;
    least = edits;
    nearest = candidate;
  }
  return nearest;
}

/** Returns how many characters must be added, removed or replaced to make one text of the other. */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let index = 0; index < from.length; index += 1) {
    const next = [index + 1];
    for (let at = 0; at < to.length; at += 1) {
      const replaced = (row[at] ?? 0) + Number(from[index] !== to[at]);
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? from.length;
}
