import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createTestPostgres } from '../../../testing/index.js';
import { readCatalog } from './catalog.js';
import { renderSql, renderTypes } from './render.js';

test('tables.ts and schema.sql are what the migrations make (npm run schema writes them)', async () => {
  const { postgres, drop } = await createTestPostgres();
  try {
    const tables = await readCatalog(postgres.pool);
    expect(renderTypes(tables)).toBe(readFileSync(new URL('../tables.ts', import.meta.url), 'utf8'));
    expect(renderSql(tables)).toBe(
      readFileSync(new URL('../../../../db/schema.sql', import.meta.url), 'utf8'),
    );
  } finally {
    await drop();
  }
});
