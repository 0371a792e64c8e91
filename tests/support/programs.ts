import { spawnSync } from 'node:child_process';

/**
 * Returns how to start a program that npm does not install; undefined if it is not installed, and then tests that need
 * it are skipped. The folder of Debian's servers is not in the path of every account.
 */
export function programPath(name: string): string | undefined {
  return [name, `/usr/sbin/${name}`].find(
    (path) => spawnSync('sh', ['-c', 'command -v "$0"', path]).status === 0,
  );
}
