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
  dimension_not_extracted: {
    message:
      'The extractor rule set gives no charge item the dimension `{name}`: an expression that reads it cannot be ' +
      'computed, and an alias of it never applies.',
  },
  path_not_in_event: { message: 'The event has nothing at `{name}`.' },
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
/** Upper bound of those that propose a name: each compares its name with all that are known. */
const PROPOSALS_MAX = 3;

/**
 * Returns a warning of the code about each of the first names.
 *
 * @param known names that are known, of which the first warnings propose the nearest one
 */
export function warningsOf(
  code: WarningCode,
  names: Iterable<string>,
  known: Iterable<string> = [],
): Warning[] {
  const candidates = [...known];
  return [...new Set(names)]
    .slice(0, WARNINGS_MAX)
    .map((name, index) => warningOf(code, name, index < PROPOSALS_MAX ? candidates : []));
}

/** Returns the warning of a code about a name. */
export function warningOf(code: WarningCode, name: string, known: readonly string[] = []): Warning {
  return warningProposing(code, name, nearestName(name, known));
}

/** Returns the warning of a code about a name; with another name to write in its place, if there is one. */
export function warningProposing(code: WarningCode, name: string, near: string | undefined): Warning {
  const message = WARNINGS[code].message.replace('{name}', () => name);
  return { code, name, message: near === undefined ? message : `${message} Did you mean \`${near}\`?` };
}

/** Two names are near if at most one of so many characters differs. */
const CHARACTERS_PER_EDIT = 4;
/** Upper bound of the characters that differ, and of the length of a name that is compared: both bound the time. */
const EDITS_MAX = 3;
const COMPARED_CHARS_MAX = 64;

/** Returns the known name with the fewest different characters, the first of several; undefined if none is near. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > COMPARED_CHARS_MAX) return undefined;
  let nearest: string | undefined;
  let least = Math.min(EDITS_MAX, Math.max(1, Math.floor(name.length / CHARACTERS_PER_EDIT))) + 1;
  for (const candidate of known) {
    const edits = editsBetween(name.toLowerCase(), candidate.toLowerCase(), least);
    if (edits >= least) continue;
    least = edits;
    nearest = candidate;
  }
  return nearest;
}

/**
 * Returns how many characters must be added, removed, replaced, or exchanged with the next one to make one text of the
 * other; `max` if so many or more.
 */
function editsBetween(from: string, to: string, max: number): number {
  if (Math.abs(from.length - to.length) >= max) return max;
  let earlier: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let index = 1; index <= from.length; index += 1) {
    const next = new Array<number>(to.length + 1).fill(max);
    next[0] = index;
    // Beyond `max` from the diagonal, more than `max` characters differ.
    for (let at = Math.max(1, index - max); at <= Math.min(to.length, index + max); at += 1) {
      const isSame = from[index - 1] === to[at - 1];
      const isExchanged = from[index - 1] === to[at - 2] && from[index - 2] === to[at - 1];
      next[at] = Math.min(
        (row[at - 1] ?? max) + Number(!isSame),
        (row[at] ?? max) + 1,
        (next[at - 1] ?? max) + 1,
        isExchanged ? (earlier[at - 2] ?? max) + 1 : max,
      );
    }
    earlier = row;
    row = next;
  }
  return Math.min(max, row[to.length] ?? max);
}
