import type { Finding } from './finding.js';
import type { CodeFile } from './source.js';

/** Finds files of the packages that import each other in a circle, directly or over others, types included. */
export function circleFindings(files: readonly CodeFile[]): Finding[] {
  const sources = files.filter(({ path }) => /^packages\/[^/]+\/src\//.test(path));
  const byPath = new Map(sources.map((file) => [file.path, file]));
  return circles(new Map(sources.map((file) => [file.path, targetsOf(file, byPath)]))).map((circle) => ({
    rule: 'import-circles',
    path: circle[0] ?? '',
    line: 1,
    advice: `${circle.join(' → ')} → ${circle[0]}: move what both need into a third file, or to the one below.`,
  }));
}

function targetsOf(file: CodeFile, byPath: ReadonlyMap<string, CodeFile>): string[] {
  return file.imports.flatMap(({ target }) =>
    // The target of `a.js` is written down as `a.ts`, but its source may be a component.
    target === undefined ? [] : [target, target.replace(/\.ts$/, '.tsx')].filter((path) => byPath.has(path)),
  );
}

/** One circle for each import that leads back into the path that is being followed. */
function circles(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const found: string[][] = [];
  const done = new Set<string>();
  const followed: string[] = [];
  const follow = (path: string) => {
    if (done.has(path)) return;
    const at = followed.indexOf(path);
    if (at >= 0) {
      found.push(followed.slice(at));
      return;
    }
    followed.push(path);
    for (const target of imports.get(path) ?? []) follow(target);
    followed.pop();
    done.add(path);
  };
  for (const path of imports.keys()) follow(path);
  return found;
}
