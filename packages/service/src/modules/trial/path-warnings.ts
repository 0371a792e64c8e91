import { nearestName, WARNINGS_MAX, type Warning, warningProposing } from '@tollgate/contract';
import { type JsonSelection, SelectedMembers } from '../../kernel/json/json.js';
import { isRecord } from '../rules/index.js';

/** Upper bound of the fields of one object that a misspelt field is compared with. */
const FIELDS_COMPARED_MAX = 200;

/** A name that can be written after a dot in a path. */
const PLAIN_NAME = /^[A-Za-z_]\w*$/;

/**
 * Returns warnings about paths that find nothing in an event, although it has a field of nearly the same name in that
 * place. Without such a field there is no warning: events need not have all that rules read.
 *
 * @param reads the parts of events that the rules read
 */
export function pathWarnings(reads: JsonSelection, event: unknown): Warning[] {
  return found(reads, event, '').slice(0, WARNINGS_MAX);
}

function found(selection: JsonSelection, value: unknown, place: string): Warning[] {
  if (!(selection instanceof SelectedMembers) || !isRecord(value)) return [];
  const { members } = selection;
  const read = new Set(members.map(({ name }) => name));
  const others = Object.keys(value)
    .filter((name) => !read.has(name))
    .slice(0, FIELDS_COMPARED_MAX);
  return members.flatMap(({ name, selection: below }) => {
    if (Object.hasOwn(value, name)) return found(below, value[name], within(place, name));
    const near = nearestName(name, others);
    if (near === undefined) return [];
    return warningProposing('path_not_in_event', within(place, name), within(place, near));
  });
}

function within(place: string, name: string): string {
  if (!PLAIN_NAME.test(name)) return `${place}['${name}']`;
  return place === '' ? name : `${place}.${name}`;
}
