import type { Finding } from './finding.js';
import { isForTests } from './layers.js';
import type { CodeFile, SyntaxNode } from './source.js';

interface NamedExport {
  readonly name: string;
  readonly path: string;
  readonly line: number;
}

/** Finds names that two files of one package export: a reader must be able to know a thing by its name alone. */
export function nameFindings(files: readonly CodeFile[]): Finding[] {
  const first = new Map<string, NamedExport>();
  return files.flatMap(exportsOf).flatMap((exported) => {
    const key = `${exported.path.split('/')[1]} ${exported.name}`;
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

function exportsOf(file: CodeFile): NamedExport[] {
  if (!/^packages\/[^/]+\/src\//.test(file.path) || isForTests(file.path)) return [];
  return file.nodes.flatMap((node) => {
    const declaration = node.type === 'ExportNamedDeclaration' ? node.declaration : undefined;
    if (declaration === undefined || declaration === null) return [];
    const line = file.lineOf(node.start);
    return namesOf(declaration as SyntaxNode).map((name) => ({ name, path: file.path, line }));
  });
}

function namesOf(declaration: SyntaxNode): string[] {
  const declared = (declaration.declarations as SyntaxNode[] | undefined) ?? [declaration];
  return declared.flatMap(({ id }) => {
    const name = (id as SyntaxNode | undefined)?.name;
    return name === undefined ? [] : [String(name)];
  });
}
