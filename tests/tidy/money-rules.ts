import type { Finding } from './finding.js';
import { isForTests } from './layers.js';
import type { CodeFile, SyntaxNode } from './source.js';

/** Code that turns usage into money, or money into usage, and code that counts against a paid allowance. */
const MONEY =
  /^packages\/service\/src\/modules\/((ledger|checkout|quotas|limits\/(posting|windows|leases|check))\/|pipeline\/totals\.ts$)/;

const NOT_ZERO =
  'a missing value must stop the work, not become zero: use present() of kernel/present; ' +
  'where nothing was counted yet, use countOrNone(), sumOrNone() or addTo().';

/** Finds values that money code would take for zero, or for present, where they are missing. */
export function moneyFindings(file: CodeFile): Finding[] {
  if (!MONEY.test(file.path) || isForTests(file.path)) return [];
  return file.nodes.flatMap((node) => {
    const advice = adviceFor(node);
    return advice === undefined
      ? []
      : [{ rule: 'missing-money', path: file.path, line: file.lineOf(node.start), advice }];
  });
}

function adviceFor(node: SyntaxNode): string | undefined {
  if (isZeroInstead(node)) return NOT_ZERO;
  const isFallback = node.type === 'LogicalExpression' && (node.operator === '??' || node.operator === '||');
  if (isFallback && isElement(node.left as SyntaxNode))
    return 'an element may be missing: check it, or use present() of kernel/present.';
  const isAsserted = node.type === 'TSAsExpression' || node.type === 'TSNonNullExpression';
  if (isAsserted && (isElement(node.expression as SyntaxNode) || isCallOf('get', node.expression)))
    return 'do not assert that an element is there: use present() of kernel/present.';
  return undefined;
}

/** `a ?? 0`, `a ??= 0`, `a === undefined ? 0 : b` and `{ a = 0 }`. */
function isZeroInstead(node: SyntaxNode): boolean {
  switch (node.type) {
    case 'LogicalExpression':
      return (node.operator === '??' || node.operator === '||') && isZero(node.right as SyntaxNode);
    case 'AssignmentExpression':
      return (node.operator === '??=' || node.operator === '||=') && isZero(node.right as SyntaxNode);
    case 'AssignmentPattern':
      return isZero(node.right as SyntaxNode);
    case 'ConditionalExpression':
      return (
        isTestOfAbsence(node.test as SyntaxNode) &&
        (isZero(node.consequent as SyntaxNode) || isZero(node.alternate as SyntaxNode))
      );
    default:
      return false;
  }
}

/** Compares with undefined or null, whichever way around. */
function isTestOfAbsence({ type, left, right }: SyntaxNode): boolean {
  const sides = [left, right] as SyntaxNode[];
  return type === 'BinaryExpression' && sides.some(isAbsence);
}

function isAbsence(node: SyntaxNode): boolean {
  const isUndefined = node.type === 'Identifier' && node.name === 'undefined';
  return isUndefined || (node.type === 'Literal' && node.raw === 'null');
}

/** `0`, `0n`, `'0'`, `ZERO`, `BigInt(0)`. */
function isZero(node: SyntaxNode): boolean {
  if (node.type === 'Identifier') return node.name === 'ZERO';
  if (node.type === 'CallExpression') {
    const { name } = node.callee as SyntaxNode;
    const [first] = node.arguments as SyntaxNode[];
    return (name === 'BigInt' || name === 'Number') && first !== undefined && isZero(first);
  }
  const { value, bigint } = node;
  return node.type === 'Literal' && (value === 0 || value === 0n || value === '0' || bigint === '0');
}

/** `list[at]`, `list[at].field`, `list[0]?.field`, `list.at(-1)`: an element by a number or a variable. */
function isElement(node: SyntaxNode): boolean {
  if (node.type === 'ChainExpression') return isElement(node.expression as SyntaxNode);
  if (isCallOf('at', node)) return true;
  if (node.type !== 'MemberExpression') return false;
  const property = node.property as SyntaxNode;
  const isByText = property.type === 'Literal' && typeof property.value === 'string';
  return (node.computed === true && !isByText) || isElement(node.object as SyntaxNode);
}

/** `a.get(key)` and `a.get(key).field` for the method `get`. */
function isCallOf(method: string, expression: unknown): boolean {
  const node = expression as SyntaxNode;
  if (node.type === 'ChainExpression') return isCallOf(method, node.expression);
  if (node.type === 'MemberExpression') return isCallOf(method, node.object);
  if (node.type !== 'CallExpression') return false;
  const { type, property } = node.callee as SyntaxNode;
  return type === 'MemberExpression' && (property as SyntaxNode).name === method;
}
