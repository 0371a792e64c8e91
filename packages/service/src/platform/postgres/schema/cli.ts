import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { connectPostgres } from '../connect.js';
import { applyMigrations } from '../migrate.js';
import { startTemporaryPostgres } from '../temporary.js';
import { readCatalog } from './catalog.js';
import { renderSql, renderTypes } from './render.js';

/** Writes, or with --check compares, the files that are generated from the migrated catalog. */
async function main(isCheck: boolean): Promise<void> {
  const stale = (await generate()).filter(({ path, text }) => readIfPresent(path) !== text);
  if (!isCheck) for (const { path, text } of stale) writeFileSync(path, text);
  for (const { path } of stale)
    console.log(`${isCheck ? 'out of date, run npm run schema' : 'written'}: ${path}`);
  if (isCheck && stale.length > 0) process.exitCode = 1;
}

async function generate(): Promise<{ path: string; text: string }[]> {
  const server = await startTemporaryPostgres();
  const log = pino({ level: 'error' });
  const postgres = connectPostgres({
    connection: server.connection,
    applicationName: 'schema',
    poolMax: 2,
    log,
  });
  try {
    await applyMigrations(postgres);
    const tables = await readCatalog(postgres.pool);
    const root = fileURLToPath(new URL('../../../../', import.meta.url));
    return [
      { path: join(root, 'db/schema.sql'), text: renderSql(tables) },
      { path: join(root, 'src/platform/postgres/tables.ts'), text: renderTypes(tables) },
    ];
  } finally {
    await postgres.close();
    await server.stop();
  }
}

function readIfPresent(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

await main(process.argv.includes('--check'));
