import type { ExtractorRuleSet } from '@tollgate/contract';

type Read = Pick<ExtractorRuleSet, 'subject' | 'dimensions' | 'charge_item_extractors'>;
type JsonObject = Record<string, unknown>;

const SAMPLE_QUANTITY = 100;
const SAMPLE_VALUES = { string: 'example', number: 1, boolean: true } as const;
/** One name of a path: `.name`, `['name']` or `["name"]`; an index makes a list, of which only the first is written. */
const STEP = /\.?([\p{L}_][\p{L}\p{N}_-]*)|\[(['"])(.*?)\2\]|\[(\d+)\]/gu;

/** A step to all entries of a list, or to those that pass a filter: the first is written. */
const MANY = /\[\*\]|\.\*|\[\?.*?\](?=[.[]|$)/g;
/** A filter that asks for one text, such as `[?@.type == "a"]`. */
const FILTER = /\[\?@(\.[\w.]+) == (['"])(.*?)\2\]/g;

/** An event that a rule set can read: something at each place where it looks. */
export function sampleEventOf({ subject, dimensions, charge_item_extractors }: Read): JsonObject {
  const event: JsonObject = {};
  if (subject.type_path !== undefined) put(event, subject.type_path, subject.default_type ?? 'customer');
  if (subject.id_path !== undefined) put(event, subject.id_path, 'customer-1');
  for (const { path, sum_paths: [list] = [], type } of dimensions)
    putOne(event, path, list, SAMPLE_VALUES[type]);
  for (const { path, sum_paths: [list] = [], type, less_paths = [] } of charge_item_extractors) {
    // What is subtracted from it may be there as well, and must not exceed it.
    const quantity = SAMPLE_QUANTITY * (less_paths.length + 1);
    putOne(event, path, list, type === 'number' ? quantity : String(quantity));
  }
  return event;
}

/** Writes a value where a path leads; without one, where the first of a list is that is added up. */
function putOne(event: JsonObject, path: string | undefined, list = '', value: unknown): void {
  put(event, path ?? list.replace(MANY, '[0]'), value);
  if (path === undefined) passFilters(event, list);
}

function put(event: JsonObject, path: string, value: unknown): void {
  const steps = stepsOf(path);
  const last = steps.pop();
  if (last === undefined) return;
  let parent: unknown = event;
  steps.forEach((step, index) => {
    const next = steps[index + 1] ?? last;
    parent = childOf(parent, step, typeof next === 'number');
  });
  setField(parent, last, value);
}

/** Gives the entry of a list that was written what the filters of the path ask for. */
function passFilters(event: JsonObject, path: string): void {
  for (const { index, 1: place, 3: text } of path.matchAll(FILTER)) {
    put(event, `${path.slice(0, index).replace(MANY, '[0]')}[0]${place}`, text);
  }
}

function stepsOf(path: string): (string | number)[] {
  return [...path.replace(/^\$/, '').matchAll(STEP)].map(([, name, , quoted, index]) =>
    index === undefined ? (name ?? quoted ?? '') : Number(index),
  );
}

/** The object or list at a step, made where there is none. A value that is in the way stays. */
function childOf(parent: unknown, step: string | number, isList: boolean): unknown {
  const found = fieldOf(parent, step);
  if (found !== undefined) return found;
  const child = isList ? [] : {};
  setField(parent, step, child);
  return child;
}

function fieldOf(parent: unknown, step: string | number): unknown {
  if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, step)) return undefined;
  return (parent as Record<string | number, unknown>)[step];
}

function setField(parent: unknown, step: string | number, value: unknown): void {
  if (typeof parent !== 'object' || parent === null) return;
  // A list has no holes: whatever place is asked for, the first is written.
  const key = Array.isArray(parent) ? 0 : step;
  Object.defineProperty(parent, key, { value, writable: true, enumerable: true, configurable: true });
}
