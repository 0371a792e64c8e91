import type { Finding } from './finding.js';
import type { CodeFile, SyntaxNode } from './source.js';

/** Finds imports of a package's build output whose name, or whole file, its source does not have. */
export function builtImportFindings(files: readonly CodeFile[]): Finding[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  return files.flatMap((file) =>
    file.imports.flatMap(({ target, names, line }) => {
      if (target === undefined || !/^packages\/[^/]+\/dist\//.test(target)) return [];
      const source = byPath.get(target.replace('/dist/', '/src/'));
      const exported = source === undefined ? new Set() : exportedNames(source);
      // `export *` hands on names that only the other file knows.
      const missing = exported.has('*') ? [] : names.filter((name) => name !== '*' && !exported.has(name));
      if (source !== undefined && missing.length === 0) return [];
      const advice = `${target} ${source === undefined ? 'has no source' : `does not export ${missing.join(', ')}`}.`;
      return { rule: 'built-imports', path: file.path, line, advice: `${advice} Follow the rename.` };
    }),
  );
}

function exportedNames({ nodes }: CodeFile): Set<string> {
  return new Set(
    nodes.flatMap((node) => {
      if (node.type === 'ExportAllDeclaration') return ['*'];
      if (node.type !== 'ExportNamedDeclaration') return [];
      const declaration = node.declaration as SyntaxNode | null;
      const declared =
        declaration === null ? [] : ((declaration.declarations as SyntaxNode[]) ?? [declaration]);
      const specifiers = (node.specifiers ?? []) as SyntaxNode[];
      return [...declared.map(({ id }) => id), ...specifiers.map(({ exported }) => exported)].map((name) =>
        String((name as SyntaxNode).name ?? (name as SyntaxNode).value),
      );
    }),
  );
}
