import type { Finding } from './finding.js';
import { isForTests } from './layers.js';
import type { CodeFile, SyntaxNode } from './source.js';

const CONSOLE = 'packages/console/src/';
/** The one file of the console that sends requests. */
const TRANSPORT = `${CONSOLE}api/transport.ts`;
const NETWORK = /^(fetch|EventSource|XMLHttpRequest|WebSocket|sendBeacon)$/;
/** A component or a hook: React calls it to render. */
const RENDERED_NAME = /^([A-Z]|use[A-Z])/;
/** Calls whose callbacks run at once, as part of the function around them. */
const RUNS_AT_ONCE = /^(useMemo|useState|useReducer|map|flatMap|filter|forEach|some|every|find|reduce)$/;

/** Rules for the code of the console, which runs in browsers. */
export function consoleFindings(file: CodeFile): Finding[] {
  if (!file.path.startsWith(CONSOLE) || isForTests(file.path)) return [];
  const report = (rule: string, { start }: SyntaxNode, advice: string): Finding[] => [
    { rule, path: file.path, line: file.lineOf(start), advice },
  ];
  return file.nodes.flatMap((node) => {
    if (file.path !== TRANSPORT && NETWORK.test(calleeName(node) ?? ''))
      return report(
        'console-requests',
        node,
        'only api/transport.ts sends requests: use the client of the SDK.',
      );
    if (writesRef(node) && runsInRender(file, node))
      return report('refs-in-render', node, 'write a ref in an effect or an event handler, or use state.');
    return [];
  });
}

/** `f` of `f()`, `window.f()` and `new f()`. */
function calleeName(node: SyntaxNode): string | undefined {
  if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return undefined;
  const callee = node.callee as SyntaxNode;
  return nameOf(callee.type === 'MemberExpression' ? (callee.property as SyntaxNode) : callee);
}

function nameOf(node: SyntaxNode | null | undefined): string | undefined {
  return node?.type === 'Identifier' ? String(node.name) : undefined;
}

function writesRef(node: SyntaxNode): boolean {
  const isWrite = node.type === 'AssignmentExpression' || node.type === 'UpdateExpression';
  const target = (node.type === 'AssignmentExpression' ? node.left : node.argument) as SyntaxNode;
  return isWrite && target.type === 'MemberExpression' && nameOf(target.property as SyntaxNode) === 'current';
}

/** Whether a component or a hook runs this code itself, and not only a function that it passes on. */
function runsInRender(file: CodeFile, node: SyntaxNode): boolean {
  const inner = innermost(file.nodes.filter((each) => isFunction(each) && contains(each, node)));
  if (inner === undefined) return false;
  if (RENDERED_NAME.test(functionName(file, inner) ?? '')) return true;
  const runsAtOnce = file.nodes.some(
    (each) =>
      RUNS_AT_ONCE.test(calleeName(each) ?? '') && (each.arguments as readonly SyntaxNode[]).includes(inner),
  );
  return runsAtOnce && runsInRender(file, inner);
}

function functionName({ nodes }: CodeFile, node: SyntaxNode): string | undefined {
  const declarator = nodes.find((each) => each.type === 'VariableDeclarator' && each.init === node);
  return nameOf((node.id ?? declarator?.id) as SyntaxNode | undefined);
}

function isFunction({ type }: SyntaxNode): boolean {
  return (
    type === 'FunctionDeclaration' || type === 'FunctionExpression' || type === 'ArrowFunctionExpression'
  );
}

function contains(outer: SyntaxNode, { start, end }: SyntaxNode): boolean {
  return outer.start <= start && end <= outer.end && outer.end - outer.start > end - start;
}

function innermost(nodes: readonly SyntaxNode[]): SyntaxNode | undefined {
  return nodes.reduce<SyntaxNode | undefined>(
    (inner, node) => (inner === undefined || contains(inner, node) ? node : inner),
    undefined,
  );
}
