import { mkdir, mkdtemp, open, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTestPostgres, type TestPostgres, waitFor } from '../../testing/index.js';
import { checkPlaced, type SegmentPlace, SegmentWriteError } from './outside.js';
import { SegmentFormatError } from './segment.js';
import { type AppendableFile, SegmentFiles } from './segment-files.js';
import { fileNames, putOne, readPlaced, sweepFolder } from './segment-files.testing.js';

const FILE_BYTES_MAX = 1_000;

let store: TestPostgres;
beforeAll(async () => {
  store = await createTestPostgres();
});
afterAll(() => store.drop());

let folder: string;
let files: SegmentFiles;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-segments-'));
  files = await SegmentFiles.open(folder, { fileBytesMax: FILE_BYTES_MAX });
});
afterEach(async () => {
  vi.useRealTimers();
  await files.close();
  await rm(folder, { recursive: true, force: true });
});

const put = (bytes: Buffer, point?: (place: SegmentPlace) => Promise<unknown>) => putOne(files, bytes, point);
const readChecked = (place: SegmentPlace) => readPlaced(files, place);
const sweep = (...places: SegmentPlace[]) => sweepFolder(files, folder, places);
/** Sweeps until these files are left: a file that was closed a moment ago may stay for one sweep more. */
const sweepsUntil = (left: Set<string>, ...places: SegmentPlace[]) =>
  waitFor(async () => isDeepStrictEqual(await sweep(...places), left));

describe('a segment in a file', () => {
  it('is read as it was put, whatever is put at the same time', async () => {
    const segment = fc.array(fc.uint8Array({ maxLength: 400 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.array(segment, { minLength: 1, maxLength: 8 }), async (segments) => {
        const places: SegmentPlace[] = [];
        const all = segments.map((pieces) => pieces.map((piece) => Buffer.from(piece)));
        const half = all.length >> 1;
        const put = async (from: number, to: number) => {
          if (from === to) return;
          await files.put(all.slice(from, to), async (placed) => {
            for (const [index, place] of placed.entries()) places[from + index] = place;
          });
        };
        // Some are put together, the others one by one.
        await Promise.all([
          put(0, half),
          ...all.slice(half).map((_, index) => put(half + index, half + index + 1)),
        ]);
        for (const [index, pieces] of all.entries()) {
          expect(await readChecked(places[index] as SegmentPlace)).toEqual(Buffer.concat(pieces));
        }
      }),
      { numRuns: 50 },
    );
  });

  it('is on disk, whole, before a row points at it', async () => {
    const bytes = Buffer.alloc(500, 'on disk');
    await put(bytes, async ({ fileName, offset }) => {
      const file = await readFile(join(folder, fileName));
      expect(file.subarray(offset)).toEqual(bytes);
    });
  });

  it('shares its file up to the bound, and has one of its own past it', async () => {
    const [a, b, c] = [
      await put(Buffer.alloc(400)),
      await put(Buffer.alloc(600)),
      await put(Buffer.alloc(1)),
    ];
    const large = await put(Buffer.alloc(FILE_BYTES_MAX + 1));
    expect([a.offset, b.offset, c.offset, large.offset]).toEqual([0, 400, 0, 0]);
    expect(fileNames(a, b, c, large).size).toBe(3);
    expect(b.fileName).toBe(a.fileName);
  });

  it.each<[string, (path: string) => Promise<unknown>, RegExp]>([
    [
      'damaged',
      (path) => writeFile(path, Buffer.alloc(300)),
      /^not a valid segment: it is damaged, in .* at offset 100$/,
    ],
    ['cut off', (path) => truncate(path, 150), /: 50 of its 200 bytes are there, /],
    ['missing', (path) => rm(path), /: 0 of its 200 bytes are there, /],
  ])('is known to be %s', async (_what, damage, problem) => {
    await put(Buffer.alloc(100, 'a'));
    const place = await put(Buffer.alloc(200, 'b'));
    await damage(join(folder, place.fileName));
    const bytes = await files.read(place);
    expect(() => checkPlaced(place, bytes)).toThrow(SegmentFormatError);
    expect(() => checkPlaced(place, bytes)).toThrow(problem);
  });

  it('is never read from outside of the folder', async () => {
    await writeFile(join(folder, 'secret'), 'secret');
    expect(await files.read({ fileName: 'secret', offset: 0, byteCount: 6, crc32: 0 })).toEqual(Buffer.of());
  });
});

describe('a file of segments', () => {
  it('stays while a row points at it, or is about to', async () => {
    const pointedAt = await put(Buffer.alloc(FILE_BYTES_MAX));
    const rated = await put(Buffer.alloc(FILE_BYTES_MAX));
    let settle = () => {};
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    let putting: Promise<unknown> | undefined;
    const pointing = await new Promise<SegmentPlace>((begin) => {
      putting = put(Buffer.alloc(FILE_BYTES_MAX), (place) => {
        begin(place);
        return settled;
      });
    });
    expect(fileNames(pointedAt, rated, pointing).size).toBe(3);
    expect(await sweep(pointedAt)).toEqual(fileNames(pointedAt, rated, pointing));
    settle();
    await putting;
    await sweepsUntil(fileNames(pointedAt), pointedAt);
  });

  it('takes no more after a sweep', async () => {
    const before = await put(Buffer.alloc(1));
    expect(await sweep(before)).toEqual(fileNames(before));
    const after = await put(Buffer.alloc(1));
    expect(after.fileName).not.toBe(before.fileName);
    expect(await sweep(before, after)).toEqual(fileNames(before, after));
  });

  it('goes when an earlier run left it and nothing points at it; what is not ours stays', async () => {
    const used = await put(Buffer.alloc(1_000));
    await put(Buffer.alloc(1_000));
    await files.close();
    files = await SegmentFiles.open(folder, { fileBytesMax: FILE_BYTES_MAX });
    await writeFile(join(folder, 'notes.txt'), '');
    expect(await sweep(used)).toEqual(new Set([used.fileName, 'notes.txt']));
  });

  it('goes after an answer of the database that there is no row', async () => {
    const insert = () => store.postgres.pool.query('insert into segments (id) values (default)');
    await expect(put(Buffer.alloc(1_000), insert)).rejects.toThrow('null value');
    expect((await readdir(folder)).length).toBe(1);
    await sweep();
    expect(await sweep()).toEqual(new Set());
  });

  it('stays after an end that leaves open whether there is a row, until the next start', async () => {
    const lost = new Error('Query read timeout');
    await expect(put(Buffer.alloc(1_000), () => Promise.reject(lost))).rejects.toBe(lost);
    expect((await sweep()).size).toBe(1);
    files = await SegmentFiles.open(folder, { fileBytesMax: FILE_BYTES_MAX });
    expect(await sweep()).toEqual(new Set());
  });

  it('takes no more after a failure, and no row points at what may not be on disk', async () => {
    const failing = await faulty(async (sync, syncs) => {
      if (syncs === 2) throw new Error('EIO');
      await sync();
    });
    files = failing.files;
    const before = await put(Buffer.alloc(1));
    let pointed = 0;
    const point = async () => {
      pointed += 1;
    };
    const together = [put(Buffer.alloc(2), point), put(Buffer.alloc(3), point)];
    for (const outcome of await Promise.allSettled(together)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'SegmentWriteError' } });
    }
    expect(pointed).toBe(0);
    const after = await put(Buffer.alloc(4));
    expect(after.fileName).not.toBe(before.fileName);
    expect(await readChecked(after)).toEqual(Buffer.alloc(4));
    expect(await readChecked(before)).toEqual(Buffer.alloc(1));
    expect(await sweep(after)).toEqual(fileNames(after));
    await waitFor(() => failing.closed() === 2);
  });

  it('is given up when writing takes too long, and closed when that has ended', async () => {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const stuck = await faulty((sync, syncs) => {
      if (syncs > 1) return sync();
      begin();
      return ended;
    });
    files = stuck.files;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const refused = expect(put(Buffer.alloc(1))).rejects.toThrow(SegmentWriteError);
    await begun;
    vi.advanceTimersByTime(10_000);
    await refused;
    vi.useRealTimers();
    const after = await put(Buffer.alloc(1));
    expect((await readdir(folder)).length).toBe(2);
    expect(stuck.closed()).toBe(0);
    expect((await sweep(after)).size).toBe(2);
    end();
    await waitFor(() => stuck.closed() === 2);
    await sweepsUntil(fileNames(after), after);
  });

  it('cannot be made where its folder is gone', async () => {
    await rm(folder, { recursive: true });
    await expect(put(Buffer.alloc(1))).rejects.toThrow(SegmentWriteError);
    await mkdir(folder);
    expect(await readChecked(await put(Buffer.alloc(1)))).toEqual(Buffer.alloc(1));
  });

  it('is closed once, after the last of what was put at once is settled', async () => {
    const counting = await faulty((sync) => sync());
    files = counting.files;
    let begun = 0;
    let settle = () => {};
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const putting = [1, 2].map(() =>
      put(Buffer.alloc(1), () => {
        begun += 1;
        return settled;
      }),
    );
    await waitFor(() => begun === 2);
    expect((await sweep()).size).toBe(1);
    expect(counting.closed()).toBe(0);
    settle();
    await Promise.all(putting);
    await waitFor(() => counting.closed() === 1);
    await sweepsUntil(new Set());
    expect(counting.closed()).toBe(1);
  });
});

/**
 * Creates files whose syncs call `onSync` with the number of syncs so far, this one included, and which count closed
 * files.
 */
async function faulty(
  onSync: (sync: () => Promise<void>, syncs: number) => Promise<void>,
): Promise<{ files: SegmentFiles; closed: () => number }> {
  let closed = 0;
  let syncs = 0;
  const openCounted = async (where: string, name: string): Promise<AppendableFile> => {
    const file = await open(join(where, name), 'wx');
    return {
      writev: (pieces: readonly Buffer[], at: number) => file.writev(pieces, at),
      datasync: () => onSync(() => file.datasync(), ++syncs),
      close: async () => {
        closed += 1;
        await file.close();
      },
    } as AppendableFile;
  };
  const options = { fileBytesMax: FILE_BYTES_MAX, open: openCounted };
  return { files: await SegmentFiles.open(folder, options), closed: () => closed };
}
