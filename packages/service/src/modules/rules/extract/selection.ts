import {
  ALL,
  isSelectable,
  JSON_DEPTH_MAX,
  type JsonSelection,
  SelectedMembers,
} from '../../../kernel/json/json.js';
import type { PathSegment } from './path.js';

/** The fields that paths select below one value; `ALL` where a path needs the whole value. */
type Selected = Map<string, Selected> | typeof ALL;

/** Returns the parts of an event that these paths can read: each path finds the same in them as in the whole event. */
export function selectionOf(paths: Iterable<readonly PathSegment[]>): JsonSelection {
  let selected: Selected = new Map();
  for (const path of paths) {
    // No accepted event is nested deeper.
    if (path.length <= JSON_DEPTH_MAX) selected = withPath(selected, path, 0);
  }
  return toSelection(selected);
}

function withPath(selected: Selected, path: readonly PathSegment[], depth: number): Selected {
  const segment = path[depth];
  // An index may count from the end of a list, so the whole list is needed.
  if (selected === ALL || typeof segment !== 'string' || !isSelectable(segment)) return ALL;
  return selected.set(segment, withPath(selected.get(segment) ?? new Map(), path, depth + 1));
}

function toSelection(selected: Selected): JsonSelection {
  if (selected === ALL) return ALL;
  return new SelectedMembers(Array.from(selected, ([name, below]) => [name, toSelection(below)] as const));
}
