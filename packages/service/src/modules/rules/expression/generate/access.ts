import { type Code, constantCode, foldConstant } from '../code.js';
import { ITEM_FIELDS, SUBJECT_FIELDS, TOTAL_FIELDS } from '../environment.js';
import type { Site } from '../site.js';
import { type Node, refuse, type StaticType } from '../syntax.js';
import type { Run, Value } from '../value.js';
import { codeOf, type Generate, type Scope } from './scope.js';

const CONTAINERS: readonly StaticType[] = ['list', 'map', 'dyn'];

/** Compiles a name on its own. Records are not values: `item == item` has no meaning. */
export function generateVariable(node: Node, scope: Scope): Code {
  const name = node.args as string;
  if (name === scope.element) {
    return { ...codeOf(node, scope), run: (env) => env.element as Value };
  }
  switch (name) {
    case 'dimensions':
      if (scope.dimensions !== undefined)
        refuse(node, `expected a dimension by name: ${namesOf(scope.dimensions)}`);
      return { ...codeOf(node, scope), run: (env) => env.dimensions };
    case 'occurred_at':
      return { ...codeOf(node, scope), run: (env) => BigInt(env.occurredAt) };
    case 'item':
      return refuse(node, `expected a field of item: ${Object.keys(ITEM_FIELDS).join(', ')}`);
    case 'subject':
      return refuse(node, `expected a field of subject: ${Object.keys(SUBJECT_FIELDS).join(', ')}`);
    case 'total':
      return refuse(node, `expected a field of total: ${Object.keys(TOTAL_FIELDS).join(', ')}`);
    default:
      return refuse(node, `expected a variable, found the type ${name}`);
  }
}

/** `left.name` */
export function generateSelect(node: Node, scope: Scope, generate: Generate): Code {
  const [left, name] = node.args as [Node, string];
  return generateField(node, left, name, scope, generate);
}

/** `left[index]`; with a literal text it is the same as `left.text`. */
export function generateIndex(node: Node, scope: Scope, generate: Generate): Code {
  const [left, index] = node.args as [Node, Node];
  if (index.op === 'value' && typeof index.args === 'string') {
    return generateField(node, left, index.args, scope, generate);
  }
  const code = codeOf(node, scope);
  const container = containerOf(node, left, scope, generate);
  const key = generate(index, scope);
  const { site } = code;
  const { run: runContainer } = container;
  const { run: runKey } = key;
  const run: Run = (env) => lookUp(runContainer(env), runKey(env), site);
  return foldConstant({ ...code, run }, [container, key], 'keep');
}

function generateField(node: Node, left: Node, name: string, scope: Scope, generate: Generate): Code {
  const code = codeOf(node, scope);
  const record = recordOf(left, scope);
  if (record !== undefined) return { ...code, run: recordField(node, record, name, code.site, scope) };
  const { site } = code;
  if (isDimensions(left, scope)) {
    assertReadable(node, name, scope);
    const missing = `the event has no dimension ${name}`;
    return { ...code, run: (env) => env.dimensions.get(name) ?? site.fail(missing) };
  }
  const container = containerOf(node, left, scope, generate);
  const { run } = container;
  return foldConstant({ ...code, run: (env) => lookUp(run(env), name, site) }, [container], 'keep');
}

function assertReadable(node: Node, name: string, { dimensions }: Scope): void {
  if (dimensions === undefined || dimensions.includes(name)) return;
  refuse(
    node,
    `the dimension ${name} is not known here; expected one of cumulative.by: ${namesOf(dimensions)}`,
  );
}

function namesOf(dimensions: readonly string[]): string {
  return dimensions.length === 0 ? 'it is empty' : dimensions.join(', ');
}

const RECORDS = ['item', 'subject', 'total'] as const;
type RecordName = (typeof RECORDS)[number];

function recordOf(node: Node, scope: Scope): RecordName | undefined {
  if (node.op !== 'id' || node.args === scope.element) return undefined;
  return RECORDS.find((name) => name === node.args);
}

function isDimensions(node: Node, scope: Scope): boolean {
  return node.op === 'id' && node.args === 'dimensions' && node.args !== scope.element;
}

/** Compiles a field of a record. The type check knows the fields, and whether `unit_price` is one of them. */
function recordField(node: Node, record: RecordName, name: string, site: Site, scope: Scope): Run {
  switch (`${record}.${name}`) {
    case 'item.quantity':
    case 'total.quantity':
      return (env) => env.quantity;
    case 'item.metric':
      return (env) => env.metric;
    case 'item.unit':
      return (env) => env.unit;
    case 'item.unit_price':
      if (!scope.hasUnitPrice) refuse(node, 'item.unit_price is not known here');
      return (env) => env.unitPrice ?? site.fail('the charge item has no unit price');
    case 'subject.type':
      return (env) => env.subject?.type ?? site.fail('the event has no subject');
    case 'subject.id':
      return (env) => env.subject?.id ?? site.fail('the event has no subject');
    default:
      return refuse(node, `${record} has no field ${name}`);
  }
}

function containerOf(node: Node, left: Node, scope: Scope, generate: Generate): Code {
  const container = generate(left, scope);
  if (!CONTAINERS.includes(container.type)) refuse(node, `a ${container.type} has no fields or elements`);
  return container;
}

function lookUp(container: Value, key: Value, site: Site): Value {
  const found = container instanceof Map ? container.get(key) : listElement(container, key, site);
  return found === undefined ? site.fail('there is no such key or index') : found;
}

function listElement(container: Value, key: Value, site: Site): Value | undefined {
  if (!Array.isArray(container)) return site.fail('expected a map or list to take an element of');
  // CEL takes a double for the int of the same value, where a type is known only at run time.
  if (typeof key === 'bigint' || Number.isInteger(key)) return container[Number(key)];
  return site.fail('expected an int as index of a list');
}

/** `has(left.name)`: whether the field exists. */
export function generateHas(node: Node, scope: Scope, generate: Generate): Code {
  const [, [target]] = node.args as [string, readonly [Node]];
  const [left, name] = target.args as [Node, string];
  const code = codeOf(node, scope);
  const record = recordOf(left, scope);
  if (record === 'item' && name === 'unit_price') {
    return scope.hasUnitPrice
      ? { ...code, run: (env) => env.unitPrice !== undefined }
      : constantCode(code, false);
  }
  if (record !== undefined) {
    recordField(target, record, name, code.site, scope);
    return record === 'subject'
      ? { ...code, run: (env) => env.subject !== undefined }
      : constantCode(code, true);
  }
  if (isDimensions(left, scope)) {
    assertReadable(target, name, scope);
    return { ...code, run: (env) => env.dimensions.has(name) };
  }
  const { run } = generate(left, scope);
  const { site } = code;
  return {
    ...code,
    run: (env) => {
      const container = run(env);
      if (container instanceof Map) return container.has(name);
      return site.fail('has() expects a field of a map');
    },
  };
}
