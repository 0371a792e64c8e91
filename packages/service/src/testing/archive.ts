import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BlockArchive } from '../modules/archive/index.js';
import { openOwnFolder } from '../platform/object-store/index.js';

/** An empty archive in a folder of its own. */
export class TestArchive {
  private constructor(
    /** The path of the folder with the objects. */
    readonly folder: string,
    readonly archive: BlockArchive,
  ) {}

  static async create(): Promise<TestArchive> {
    const root = await mkdtemp(join(tmpdir(), 'tollgate-archive-'));
    return new TestArchive(join(root, 'archive'), new BlockArchive(await openOwnFolder(root)));
  }

  drop(): Promise<void> {
    return rm(join(this.folder, '..'), { recursive: true, force: true });
  }
}
