import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitFor } from '../../testing/index.js';
import { propertyRuns } from '../../testing/property-runs.js';
import { checkPlaced, type SegmentPlace, SegmentWriteError } from './outside.js';
import { SegmentFormatError } from './segment.js';
import { type AppendableFile, SegmentFiles } from './segment-files.js';
import { fileNames, putOne, readPlaced, sweepFolder } from './segment-files.testing.js';

const FILE_BYTES_MAX = 1_000;

let folder: string;
let files: SegmentFiles;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-segments-'));
  files = await SegmentFiles.open(folder, { fileBytesMax: FILE_BYTES_MAX });
});
afterEach(async () => {
  await files.close();
  await rm(folder, { recursive: true, force: true });
});

const sweep = (...places: SegmentPlace[]) => sweepFolder(files, folder, places);

describe('a file of segments', () => {
  it('returns each segment as it was put for as long as its row is there', async () => {
    const put = fc.uint8Array({ minLength: 1, maxLength: 700 }).map(Buffer.from);
    const step = fc.oneof(
      fc.record({ put }),
      fc.record({ rated: fc.nat() }),
      fc.record({ putDuringSweep: fc.array(put, { maxLength: 3 }) }),
    );
    let reused = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        const rows: { place: SegmentPlace; bytes: Buffer }[] = [];
        const begun = new Set<string>();
        const append = async (bytes: Buffer) => {
          const place = await putOne(files, bytes);
          if (place.offset === 0 && begun.has(place.fileName)) reused++;
          begun.add(place.fileName);
          rows.push({ place, bytes });
        };
        for (const one of steps) {
          if ('put' in one) await append(one.put);
          else if ('rated' in one) rows.splice(one.rated % (rows.length + 1), 1);
          else
            await files.sweep(async () => {
              const pointedAt = fileNames(...rows.map(({ place }) => place));
              for (const bytes of one.putDuringSweep) await append(bytes);
              return pointedAt;
            });
          for (const { place, bytes } of rows) expect(await readPlaced(files, place)).toEqual(bytes);
        }
      }),
      { numRuns: propertyRuns(60) },
    );
    expect(reused).toBeGreaterThan(0);
  });

  it('is written again from its start when nothing points at it and segments come', async () => {
    const first = await putOne(files, Buffer.alloc(600, 'old'));
    const second = await putOne(files, Buffer.alloc(FILE_BYTES_MAX));
    await sweep(second);
    const third = await putOne(files, Buffer.alloc(500, 'new'));
    const fourth = await putOne(files, Buffer.alloc(500, 'newer'));
    expect(third).toMatchObject({ fileName: first.fileName, offset: 0 });
    expect(fourth).toMatchObject({ fileName: first.fileName, offset: 500 });
    expect(await readPlaced(files, third)).toEqual(Buffer.alloc(500, 'new'));
    expect(await readPlaced(files, fourth)).toEqual(Buffer.alloc(500, 'newer'));
    expect(() => checkPlaced(first, Buffer.alloc(600, 'new'))).toThrow(SegmentFormatError);
    expect(await sweep(third)).toEqual(fileNames(third, second));
  });

  it('contains nothing from before once it takes no more segments', async () => {
    const { fileName } = await putOne(files, Buffer.alloc(600, 'old'));
    await sweep();
    const again = await putOne(files, Buffer.alloc(100, 'new'));
    expect(again.fileName).toBe(fileName);
    await sweep(again);
    expect(await readFile(join(folder, fileName))).toEqual(Buffer.alloc(100, 'new'));
  });

  it('is not reused before what it had is cut off', async () => {
    let cutOff = () => {};
    const mayCutOff = new Promise<void>((resolve) => {
      cutOff = resolve;
    });
    let begun = 0;
    const openSlowly = async (where: string, name: string, isThere: boolean): Promise<AppendableFile> => {
      const file = await open(join(where, name), isThere ? 'r+' : 'wx');
      return {
        writev: (pieces: readonly Buffer[], at: number) => file.writev(pieces, at),
        datasync: () => file.datasync(),
        truncate: async (length: number) => {
          begun++;
          await mayCutOff;
          await file.truncate(length);
        },
        close: () => file.close(),
      } as AppendableFile;
    };
    files = await SegmentFiles.open(folder, { fileBytesMax: FILE_BYTES_MAX, open: openSlowly });
    const first = await putOne(files, Buffer.alloc(600, 'a'));
    await sweep();
    const reused = await putOne(files, Buffer.alloc(400, 'b'));
    expect(reused.fileName).toBe(first.fileName);
    const large = await putOne(files, Buffer.alloc(FILE_BYTES_MAX, 'c'));
    await waitFor(() => begun === 1);
    await sweep(large);
    const after = await putOne(files, Buffer.alloc(700, 'd'));
    cutOff();
    await waitFor(async () => (await readFile(join(folder, first.fileName)).catch(() => '')).length <= 400);
    expect(await readPlaced(files, after)).toEqual(Buffer.alloc(700, 'd'));
  });

  it('takes no segment when it has disappeared, and the next one goes to another file', async () => {
    const { fileName } = await putOne(files, Buffer.alloc(1));
    await sweep();
    await rm(join(folder, fileName));
    await expect(putOne(files, Buffer.alloc(2))).rejects.toThrow(SegmentWriteError);
    const after = await putOne(files, Buffer.alloc(3));
    expect(after.fileName).not.toBe(fileName);
    expect(await readPlaced(files, after)).toEqual(Buffer.alloc(3));
  });

  it('is not written again while a row may point at it', async () => {
    const used = await putOne(files, Buffer.alloc(1));
    expect(await sweep(used)).toEqual(fileNames(used));
    const lost = putOne(files, Buffer.alloc(1), () => Promise.reject(new Error('Query read timeout')));
    await expect(lost).rejects.toThrow('Query read timeout');
    expect((await sweep(used)).size).toBe(2);
    const after = await putOne(files, Buffer.alloc(1));
    expect((await sweep(used, after)).size).toBe(3);
    expect(after.fileName).not.toBe(used.fileName);
  });

  it('is deleted when nothing points at it, except for one while segments come', async () => {
    const places = [];
    for (let i = 0; i < 4; i++) places.push(await putOne(files, Buffer.alloc(FILE_BYTES_MAX)));
    expect(fileNames(...places).size).toBe(4);
    expect((await sweep()).size).toBe(1);
    expect(await sweep()).toEqual(new Set());
  });
});
