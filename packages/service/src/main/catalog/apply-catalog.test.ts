import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readGuide } from '../../testing/guide.js';
import { StartError } from '../start-error.js';
import { describeApplied, readCatalogFile } from './apply-catalog.js';

const folder = mkdtempSync(join(tmpdir(), 'tollgate-catalog-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(text: string): string {
  const path = join(folder, 'plans.json');
  writeFileSync(path, text);
  return path;
}

const [EXAMPLE = ''] = readGuide('plans').blocks('json');

describe('a catalog file', () => {
  it('is read as it is', async () => {
    expect(await readCatalogFile(fileOf(EXAMPLE))).toEqual(JSON.parse(EXAMPLE));
  });

  it.each([
    ['{"plans": [', 'is not JSON: '],
    ['[]', 'PATH is not a valid catalog: the whole file: expected an object.'],
    [
      EXAMPLE.replace('"Starter"', '"\\u0000"'),
      'PATH is not a valid catalog: plans[0].display_name: text must not contain NUL or a lone surrogate.',
    ],
    ['{"plans": []}', 'PATH is not a valid catalog: plans: expected at least 1 entry.'],
    [
      EXAMPLE.replace('900', '"900"').replace('"month"', '"year"'),
      'PATH is not a valid catalog: plans[0].amount_minor: expected an integer; plans[0].period: expected "month".',
    ],
  ])('%j is refused with all that is wrong', async (text, message) => {
    const path = fileOf(text);
    const refused = await readCatalogFile(path).catch((error) => error);
    expect(refused).toBeInstanceOf(StartError);
    expect(refused.message).toContain(message.replace('PATH', path));
  });

  it('that is not there is named', async () => {
    const path = join(folder, 'none.json');
    await expect(readCatalogFile(path)).rejects.toThrow(`Cannot read ${path}: ENOENT`);
  });
});

it('says of each plan what has become of it', () => {
  const applied = { changed: [{ id: 'launch', revision: 2 }], unchanged: ['growth', 'scale'] };
  expect(describeApplied(applied).split('\n')).toEqual([
    'launch: revision 2',
    'growth: unchanged',
    'scale: unchanged',
  ]);
});
