import type { Finding } from './finding.js';
import { isForTests } from './layers.js';
import { type CodeFile, descend, type SyntaxNode } from './source.js';

/** The only file that races work against a timer. */
const WAIT = 'packages/service/src/platform/wait.ts';
/** The only file that decides what a full map drops. */
const BOUNDED_MAP = 'packages/service/src/kernel/bounded-map.ts';

/** Text is ordered in one way, and the kernel's decimals order integers. */
const KERNEL = 'packages/service/src/kernel/';

/** The only file that says what a page of a list is. */
const PAGE = 'packages/service/src/kernel/page.ts';

/** Finds members that are private in TypeScript alone, which everything can read when the program runs. */
export function privateFindings(file: CodeFile): Finding[] {
  return file.nodes.filter(isPrivateInTypesOnly).map((node) => ({
    rule: 'private-members',
    path: file.path,
    line: file.lineOf(node.start),
    advice: 'name it #name, and assign parameters in the constructor.',
  }));
}

/** A constructor has no other way to be private. */
function isPrivateInTypesOnly(node: SyntaxNode): boolean {
  return node.accessibility === 'private' && node.kind !== 'constructor';
}

/** Finds a second implementation of what the service has one of. */
export function singleFindings(file: CodeFile): Finding[] {
  if (!file.path.startsWith('packages/service/src/') || isForTests(file.path)) return [];
  const report = (rule: string, advice: string) => (node: SyntaxNode) => ({
    rule,
    path: file.path,
    line: file.lineOf(node.start),
    advice,
  });
  const timerRaces = file.path === WAIT ? [] : timerRacesOf(file);
  const boundedMaps = file.path === BOUNDED_MAP ? [] : file.nodes.filter(dropsFromFullMap);
  const listPages = file.path === PAGE ? [] : file.nodes.filter(isTotalCount);
  const textOrders = file.path.startsWith(KERNEL) ? [] : file.nodes.filter(isOrder);
  return [
    ...textOrders.map(report('text-order', 'use compareText of kernel/compare-text.')),
    ...listPages.map(report('list-page', 'return a ListPage of kernel/page.')),
    ...timerRaces.map(report('timer-race', 'use resultWithin or endsWithin of platform/wait.')),
    ...boundedMaps.map(report('bounded-map', 'use BoundedMap of kernel/bounded-map.')),
  ];
}

/** `{ rows: Row[]; totalCount: number }` as a type. */
function isTotalCount(node: SyntaxNode): boolean {
  return node.type === 'TSPropertySignature' && nameOf(node.key) === 'totalCount';
}

/** `a < b ? -1 : …`, which only text needs, because numbers are ordered by `a - b`; a comparison with 0 is a sign. */
function isOrder(node: SyntaxNode): boolean {
  if (node.type !== 'ConditionalExpression') return false;
  const test = node.test as SyntaxNode;
  const less = node.consequent as SyntaxNode;
  const isComparison = test.operator === '<' || test.operator === '>';
  if (!isComparison || (test.right as SyntaxNode).type === 'Literal') return false;
  return less.operator === '-' && (less.argument as SyntaxNode).value === 1;
}

/** `Promise.race` in a file that sets timers. */
function timerRacesOf(file: CodeFile): SyntaxNode[] {
  const hasTimers =
    file.imports.some(({ specifier }) => specifier === 'node:timers/promises') ||
    file.nodes.some((node) => node.type === 'Identifier' && node.name === 'setTimeout');
  if (!hasTimers) return [];
  return file.nodes.filter((node) => isMemberNamed(node, 'race') && nameOf(node.object) === 'Promise');
}

/** `map.keys().next()`, or `if (map.size > max) map.clear()`. */
function dropsFromFullMap(node: SyntaxNode): boolean {
  if (isMemberNamed(node, 'next')) {
    const call = node.object as SyntaxNode;
    return call.type === 'CallExpression' && isMemberNamed(call.callee as SyntaxNode, 'keys');
  }
  if (node.type !== 'IfStatement') return false;
  const test = node.test as SyntaxNode;
  const isFull = (test.operator === '>' || test.operator === '>=') && [...descend(test.left)].some(isSize);
  return isFull && [...descend(node.consequent)].some((inner) => isMemberNamed(inner, 'clear'));
}

function isSize(node: SyntaxNode): boolean {
  return isMemberNamed(node, 'size');
}

function isMemberNamed(node: SyntaxNode, name: string): boolean {
  return node.type === 'MemberExpression' && nameOf(node.property) === name;
}

function nameOf(value: unknown): unknown {
  return (value as SyntaxNode).name;
}
