import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'vite';

export const repositoryRoot = fileURLToPath(new URL('../..', import.meta.url));

const IGNORED_FOLDERS = new Set(['node_modules', 'dist', 'data', 'coverage', '.git', '.tollgate', 'results']);
const CODE = /\.(ts|tsx|mjs)$/;
const TEXT =
  /(\.(ts|tsx|mjs|js|json|md|sql|html|css|ya?ml|sh|txt)|\/run|\.npmrc|\.gitignore|Dockerfile|LICENSE)$/;

/** A node of the syntax tree: ESTree with TypeScript, as the parser of the test runner gives it. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** One import or re-export of another module. */
export interface Import {
  /** The specifier as written, e.g. `../../kernel/clock.js`. */
  readonly specifier: string;
  /** Path in the repository of what a relative specifier means, with `.ts`; undefined for packages. */
  readonly target: string | undefined;
  /** Names as the other module exports them; `*` for a namespace, `default` for a default import. Values only. */
  readonly values: readonly string[];
  /** The same with types. */
  readonly names: readonly string[];
  readonly line: number;
}

/** A file of code, parsed. Paths use `/` and begin at the root of the repository. */
export interface CodeFile {
  readonly path: string;
  readonly text: string;
  readonly nodes: readonly SyntaxNode[];
  readonly imports: readonly Import[];
  lineOf(offset: number): number;
}

/** A file of any text that people keep in the repository. */
export interface TextFile {
  readonly path: string;
  readonly text: string;
}

/** Every text file that is kept: no build output, nothing installed. */
export function textFiles(): TextFile[] {
  return [...walk(repositoryRoot)]
    .filter((path) => TEXT.test(`/${path}`))
    .map((path) => ({ path, text: readFileSync(join(repositoryRoot, path), 'utf8') }));
}

export function codeFiles(files: readonly TextFile[]): CodeFile[] {
  return files.filter((file) => CODE.test(file.path)).map((file) => parseCode(file.path, file.text));
}

export function parseCode(path: string, text: string): CodeFile {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  // The parser speaks of offsets in UTF-16 units, as JavaScript strings do.
  const lineStarts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lineStarts.push(at + 1);
  const lineOf = (offset: number): number => {
    let low = 0;
    let high = lineStarts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((lineStarts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
  const nodes = [...descend(program)];
  const imports = nodes.flatMap((node) => importOf(path, node, lineOf));
  return { path, text, nodes, imports, lineOf };
}

function* walk(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (IGNORED_FOLDERS.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(path);
    else if (entry.isFile()) yield relative(repositoryRoot, path).split(sep).join('/');
  }
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && typeof (value as SyntaxNode).type === 'string';
}

/** The node and all below it, parents first. */
export function* descend(value: unknown): Generator<SyntaxNode> {
  if (Array.isArray(value)) {
    for (const element of value) yield* descend(element);
  } else if (isNode(value)) {
    yield value;
    for (const field of Object.values(value)) if (typeof field === 'object') yield* descend(field);
  }
}

function importOf(path: string, node: SyntaxNode, lineOf: (offset: number) => number): Import[] {
  const specifier = specifierOf(node);
  if (specifier === undefined) return [];
  const target = specifier.startsWith('.')
    ? join(dirname(path), specifier).split(sep).join('/').replace(/\.js$/, '.ts')
    : undefined;
  return [
    {
      specifier,
      target,
      values: importedNames(node, false),
      names: importedNames(node, true),
      line: lineOf(node.start),
    },
  ];
}

function specifierOf(node: SyntaxNode): string | undefined {
  const isImport =
    node.type === 'ImportDeclaration' ||
    node.type === 'ExportNamedDeclaration' ||
    node.type === 'ExportAllDeclaration' ||
    node.type === 'ImportExpression';
  const source = isImport && isNode(node.source) ? node.source.value : undefined;
  return typeof source === 'string' ? source : undefined;
}

function importedNames(node: SyntaxNode, withTypes: boolean): string[] {
  if (!withTypes && isOfTypes(node)) return [];
  if (node.type === 'ExportAllDeclaration' || node.type === 'ImportExpression') return ['*'];
  const specifiers = (node.specifiers ?? []) as SyntaxNode[];
  return specifiers.flatMap((specifier) => {
    if (!withTypes && isOfTypes(specifier)) return [];
    if (specifier.type === 'ImportNamespaceSpecifier') return ['*'];
    if (specifier.type === 'ImportDefaultSpecifier') return ['default'];
    const name = specifier.type === 'ExportSpecifier' ? specifier.local : specifier.imported;
    return isNode(name) ? [String(name.name ?? name.value)] : [];
  });
}

function isOfTypes(node: SyntaxNode): boolean {
  return node.importKind === 'type' || node.exportKind === 'type';
}
