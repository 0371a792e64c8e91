import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestPostgres, type TestPostgres } from '../../testing/index.js';
import { SegmentFormatError } from './segment.js';
import { checkPlaced, SegmentFiles, type SegmentPlace } from './segment-files.js';

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
  files = await SegmentFiles.open(folder, FILE_BYTES_MAX);
});
afterEach(async () => {
  await files.close();
  await rm(folder, { recursive: true, force: true });
});

async function put(
  bytes: Buffer,
  point: (place: SegmentPlace) => Promise<unknown> = async () => {},
): Promise<SegmentPlace> {
  let found: SegmentPlace | undefined;
  await files.put([bytes], (place) => {
    found = place;
    return point(place);
  });
  return found as SegmentPlace;
}

async function readChecked(place: SegmentPlace): Promise<Buffer> {
  const bytes = await files.read(place);
  checkPlaced(place, bytes);
  return bytes;
}

/** Sweeps while rows point at `places`; answers the files that are left. */
async function sweep(...places: SegmentPlace[]): Promise<Set<string>> {
  await files.sweep(async () => new Set(places.map(({ fileName }) => fileName)));
  return new Set(await readdir(folder));
}

const names = (...places: SegmentPlace[]) => new Set(places.map(({ fileName }) => fileName));

describe('a segment in a file', () => {
  it('is read as it was put, whatever is put at the same time', async () => {
    const segment = fc.array(fc.uint8Array({ maxLength: 400 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.array(segment, { minLength: 1, maxLength: 8 }), async (segments) => {
        const places: SegmentPlace[] = [];
        const all = segments.map((pieces) => pieces.map((piece) => Buffer.from(piece)));
        await Promise.all(
          all.map((pieces, index) =>
            files.put(pieces, async (place) => {
              places[index] = place;
            }),
          ),
        );
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
    expect(names(a, b, c, large).size).toBe(3);
    expect(b.fileName).toBe(a.fileName);
  });

  it.each<[string, (path: string) => Promise<unknown>, RegExp]>([
    [
      'damaged',
      (path) => writeFile(path, Buffer.alloc(300)),
      /^not a valid segment: it is damaged, in .* from 100 on$/,
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
    expect(names(pointedAt, rated, pointing).size).toBe(3);
    expect(await sweep(pointedAt)).toEqual(names(pointedAt, pointing));
    settle();
    await putting;
    expect(await sweep(pointedAt)).toEqual(names(pointedAt));
  });

  it('takes no more after a sweep, which deletes it as soon as nothing points at it', async () => {
    const before = await put(Buffer.alloc(1));
    expect(await sweep(before)).toEqual(names(before));
    const after = await put(Buffer.alloc(1));
    expect(after.fileName).not.toBe(before.fileName);
    expect(await sweep(after)).toEqual(names(after));
  });

  it('goes when an earlier run left it and nothing points at it; what is not ours stays', async () => {
    const [used, unused] = [await put(Buffer.alloc(1_000)), await put(Buffer.alloc(1_000))];
    await files.close();
    files = await SegmentFiles.open(folder, FILE_BYTES_MAX);
    await writeFile(join(folder, 'notes.txt'), '');
    expect(await sweep(used)).toEqual(new Set([used.fileName, 'notes.txt']));
    expect(names(unused).size).toBe(1);
  });

  it('goes after an answer of the database that there is no row', async () => {
    const insert = () => store.postgres.pool.query('insert into segments (id) values (default)');
    await expect(put(Buffer.alloc(1_000), insert)).rejects.toThrow('null value');
    expect((await readdir(folder)).length).toBe(1);
    expect(await sweep()).toEqual(new Set());
  });

  it('stays after an end that leaves open whether there is a row, until the next start', async () => {
    const lost = new Error('Query read timeout');
    await expect(put(Buffer.alloc(1_000), () => Promise.reject(lost))).rejects.toBe(lost);
    expect((await sweep()).size).toBe(1);
    files = await SegmentFiles.open(folder, FILE_BYTES_MAX);
    expect(await sweep()).toEqual(new Set());
  });

  it('takes no more after a failure, and no row points at what was not written', async () => {
    const before = await put(Buffer.alloc(1));
    await rm(folder, { recursive: true });
    let isPointedAt = false;
    const point = async () => {
      isPointedAt = true;
    };
    await expect(put(Buffer.alloc(1_000), point)).rejects.toThrow('ENOENT');
    expect(isPointedAt).toBe(false);
    files = await SegmentFiles.open(folder, FILE_BYTES_MAX);
    const after = await put(Buffer.alloc(1));
    expect(after.fileName).not.toBe(before.fileName);
    expect(await readChecked(after)).toEqual(Buffer.alloc(1));
  });
});
