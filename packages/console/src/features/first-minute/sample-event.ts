import type { ExtractorRuleSet } from '@tollgate/contract';

type Read = Pick<ExtractorRuleSet, 'subject' | 'dimensions' | 'charge_item_extractors'>;
type JsonObject = Record<string, unknown>;

const SAMPLE_QUANTITY = 100;
const SAMPLE_VALUES = { string: 'example', number: 1, boolean: true } as const;
/** One step of a path: `.name`, `['name']` or `["name"]`. An index creates a list with one entry. */
const STEP = /\.?([\p{L}_][\p{L}\p{N}_-]*)|\[(['"])(.*?)\2\]|\[(\d+)\]/gu;

/** A step to all entries of a list, or to those that pass a filter. Only the first entry is written. */
const MANY = /\[\*\]|\.\*|\[\?.*?\](?=[.[]|$)/g;
/** A filter for one text, such as `[?@.type == "a"]`. */
const FILTER = /\[\?@(\.[\w.]+) == (['"])(.*?)\2\]/g;

/** An event that a rule set can read: it has a value at each path of the rule set. */
export function sampleEventOf({ subject, dimensions, charge_item_extractors }: Read): JsonObject {
  const event: JsonObject = {};
  if (subject.type_path !== undefined) put(event, subject.type_path, subject.default_type ?? 'customer');
  if (subject.id_path !== undefined) put(event, subject.id_path, 'customer-1');
  for (const { path, sum_paths: [list] = [], type } of dimensions)
    putOne(event, path, list, SAMPLE_VALUES[type]);
  for (const { path, sum_paths: [list] = [], type, less_paths = [] } of charge_item_extractors) {
    // The quantities to subtract may be present too, and must not exceed this one.
    const quantity = SAMPLE_QUANTITY * (less_paths.length + 1);
    putOne(event, path, list, type === 'number' ? quantity : String(quantity));
  }
  return event;
}

/** Writes a value at a path. Without a path, it writes to the first entry of the list that is summed. */
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

/** Adds the values to a list entry that the filters of the path require. */
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

/** The object or list at a step, created if missing. An existing value is kept. */
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
  // A list has no holes, so any index writes to the first entry.
  const key = Array.isArray(parent) ? 0 : step;
  Object.defineProperty(parent, key, { value, writable: true, enumerable: true, configurable: true });
}
