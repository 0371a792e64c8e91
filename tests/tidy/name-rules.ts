import type { Finding } from './finding.js';
import { isForTests } from './layers.js';
import type { CodeFile, SyntaxNode } from './source.js';

interface NamedExport {
  readonly name: string;
  readonly path: string;
  readonly line: number;
}

/**
 * Finds names that two files of one package export: a reader must be able to know a thing by its name alone. The
 * service and the contract, which it imports everywhere, count as one package.
 */
export function nameFindings(files: readonly CodeFile[]): Finding[] {
  const first = new Map<string, NamedExport>();
  return files.flatMap(exportsOf).flatMap((exported) => {
    const key = `${vocabularyOf(exported.path)} ${exported.name}`;
    const before = first.get(key);
    if (before === undefined) {
      first.set(key, exported);
      return [];
    }
    // Two declarations in one file are overloads, or a type and a value that belong together.
    if (before.path === exported.path) return [];
    return {
      rule: 'one-meaning',
      path: exported.path,
      line: exported.line,
      advice: `${before.path} exports ${exported.name} too: give each a name of its own, or let both use one.`,
    };
  });
}

function vocabularyOf(path: string): string | undefined {
  const [, name] = path.split('/');
  return name === 'contract' ? 'service' : name;
}

function exportsOf(file: CodeFile): NamedExport[] {
  if (!/^packages\/[^/]+\/src\//.test(file.path) || isForTests(file.path)) return [];
  return file.nodes.flatMap((node) => {
    if (node.type !== 'ExportNamedDeclaration') return [];
    const declaration = node.declaration as SyntaxNode | null | undefined;
    const names = declaration ? namesOf(declaration) : newNamesOf(node.specifiers as SyntaxNode[]);
    const line = file.lineOf(node.start);
    return names.map((name) => ({ name, path: file.path, line }));
  });
}

/** The names that `export { a as b }` gives; `export { a }` hands a thing on under the name that it has. */
function newNamesOf(specifiers: readonly SyntaxNode[]): string[] {
  return specifiers.flatMap((specifier) => {
    const { name: local } = specifier.local as SyntaxNode;
    const { name: exported } = specifier.exported as SyntaxNode;
    return exported === local ? [] : [String(exported)];
  });
}

function namesOf(declaration: SyntaxNode): string[] {
  const declared = (declaration.declarations as SyntaxNode[] | undefined) ?? [declaration];
  return declared.flatMap(({ id }) => {
    const name = (id as SyntaxNode | undefined)?.name;
    return name === undefined ? [] : [String(name)];
  });
}
