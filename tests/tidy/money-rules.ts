import type { Finding } from './finding.js';
import { isForTests } from './layers.js';
import type { CodeFile, SyntaxNode } from './source.js';

/** Code that turns usage into money, or money into usage. */
const MONEY = /^packages\/service\/src\/modules\/(ledger|checkout|limits\/(posting|windows|leases))\//;

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
  if (node.type === 'LogicalExpression' && (node.operator === '??' || node.operator === '||')) {
    if (isZero(node.right as SyntaxNode))
      return 'a missing value must stop the work, not become zero: use present() of kernel/present.';
    if (isIndexed(node.left as SyntaxNode))
      return 'an element may be missing: check it, or use present() of kernel/present.';
  }
  const isAsserted = node.type === 'TSAsExpression' || node.type === 'TSNonNullExpression';
  if (isAsserted && isIndexed(node.expression as SyntaxNode))
    return 'do not assert that an element is there: use present() of kernel/present.';
  return undefined;
}

function isZero(node: SyntaxNode): boolean {
  return node.type === 'Literal' && (node.value === 0 || node.value === 0n || node.bigint === '0');
}

/** `list[at]`, `list[at].field`, `list[0]?.field`: an element by a number or a variable. */
function isIndexed(node: SyntaxNode): boolean {
  if (node.type === 'ChainExpression') return isIndexed(node.expression as SyntaxNode);
  if (node.type !== 'MemberExpression') return false;
  const property = node.property as SyntaxNode;
  const isByText = property.type === 'Literal' && typeof property.value === 'string';
  return (node.computed === true && !isByText) || isIndexed(node.object as SyntaxNode);
}
