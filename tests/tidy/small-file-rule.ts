import type { Finding } from './finding.js';
import { isForTests, isRoutes, isStore } from './layers.js';
import type { CodeFile } from './source.js';

/** A shorter file needs a second user: otherwise a reader opens it for the sake of one caller alone. */
export const SMALL_FILE_LINES = 30;

/** Finds small files of the service that only one other file uses. */
export function smallFileFindings(files: readonly CodeFile[]): Finding[] {
  const sources = files.filter(({ path }) => /^packages\/service\/src\//.test(path) && !isForTests(path));
  const users = usersOf(sources);
  return sources.flatMap((file) => {
    const lines = file.text.split('\n').length - 1;
    const [user, ...others] = users.get(file.path) ?? [];
    if (lines >= SMALL_FILE_LINES || user === undefined || others.length > 0) return [];
    if (mayBeSmall(file.path, user)) return [];
    return {
      rule: 'small-files',
      path: file.path,
      line: 1,
      advice: `${lines} lines that only ${user} uses: join it with that file.`,
    };
  });
}

/** For each file, the files that import it or hand it on, types included. Tests do not count. */
function usersOf(files: readonly CodeFile[]): ReadonlyMap<string, readonly string[]> {
  const users = new Map<string, string[]>();
  for (const { path, imports } of files) {
    for (const target of new Set(imports.map((imported) => imported.target))) {
      if (target !== undefined) users.set(target, [...(users.get(target) ?? []), path]);
    }
  }
  return users;
}

/** Each command of the program has a file of its own, however short. */
const COMMANDS = 'packages/service/src/main/cli.ts';

function mayBeSmall(path: string, user: string): boolean {
  if (user === COMMANDS) return true;
  // The entrance of a folder, and a part that it hands on: its users are elsewhere.
  if (isIndex(path) || isIndex(user)) return true;
  // Only a store speaks SQL, only routes speak HTTP.
  return (isStore(path) && !isStore(user)) || (isRoutes(path) && !isRoutes(user));
}

function isIndex(path: string): boolean {
  return path.endsWith('/index.ts');
}
