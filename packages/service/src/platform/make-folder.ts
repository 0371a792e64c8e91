import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Creates a folder, and the folders around it that do not exist. The recursive call of Node.js never ends where an
 * existing folder takes no new ones and says that they cannot be found, as `/proc` does. So for paths that operators
 * name, each folder is created by a call of its own.
 *
 * @throws the error of the file system
 */
export function makeFolder(path: string, mode?: number): void {
  const folder = resolve(path);
  const parent = dirname(folder);
  if (!existsSync(parent)) makeFolder(parent, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process may have created it meanwhile.
    if (!isFolder(folder)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
