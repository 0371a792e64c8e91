import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SegmentFiles } from './segment-files.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-segments-'));
});
afterEach(() => rm(folder, { recursive: true }));

const openWriter = (number: number, count: number) =>
  SegmentFiles.open(folder, { writer: { number, count } });

/** Puts a segment, and returns the name of its file. */
async function putWith(writer: SegmentFiles): Promise<string> {
  let name = '';
  await writer.put([[Buffer.alloc(100)]], async ([place]) => {
    name = place?.fileName ?? '';
  });
  return name;
}

/** Sweeps while no row points at any file, until no file is kept to be written again; returns what is left. */
async function sweepWith(writer: SegmentFiles): Promise<string[]> {
  for (let i = 0; i < 2; i++) await writer.sweep(async () => new Set());
  return (await readdir(folder)).sort();
}

describe('several writers of one folder', () => {
  it('sweep their own files', async () => {
    const [first, second, third] = await Promise.all([openWriter(0, 3), openWriter(1, 3), openWriter(2, 3)]);
    await putWith(first);
    const names = [await putWith(second), await putWith(third)];
    expect(await sweepWith(first)).toEqual(names.toSorted());
    expect(await sweepWith(third)).toEqual([names[0]]);
    expect(await sweepWith(second)).toEqual([]);
  });

  it('sweep files that are left from more of them', async () => {
    const former = await openWriter(6, 7);
    const name = await putWith(former);
    await former.close();
    expect(await sweepWith(await openWriter(1, 2))).toEqual([name]);
    expect(await sweepWith(await openWriter(0, 2))).toEqual([]);
  });
});
