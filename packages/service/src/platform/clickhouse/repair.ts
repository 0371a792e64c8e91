import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Removes the insert tokens of lost parts from the engine's log. A MergeTree table records a part's token before it
 * gives the part its name. When it is killed in between, it would take the retried insert for a repetition, and drop it
 * for ever. Call it while no engine has the folder open. Returns the number of removed tokens. The opposite, a part
 * whose token is lost, only happens in a power failure: the engine never fsyncs its log (ClickHouse issue 111577).
 */
export function forgetLostParts(dataFolder: string): number {
  let forgotten = 0;
  for (const table of tableFolders(join(dataFolder, 'store'))) {
    const logFolder = join(table, 'deduplication_logs');
    if (!existsSync(logFolder)) continue;
    const parts = readdirSync(table).map(parsePart).filter(isPart);
    for (const name of readdirSync(logFolder)) {
      if (name.endsWith(UNFINISHED)) continue;
      forgotten += repairLog(join(logFolder, name), parts);
    }
  }
  return forgotten;
}

const UNFINISHED = '.new';

/** The contents of a part, inserted or merged: blocks `first` to `last` of a partition. */
interface Part {
  readonly partition: string;
  readonly first: number;
  readonly last: number;
}

/** Returns the folders of the tables of an Atomic database: store/abc/abcdef…/ */
function tableFolders(store: string): string[] {
  if (!existsSync(store)) return [];
  return readdirSync(store).flatMap((prefix) =>
    readdirSync(join(store, prefix)).map((id) => join(store, prefix, id)),
  );
}

function repairLog(path: string, parts: readonly Part[]): number {
  const lines = readFileSync(path, 'utf8').split('\n');
  const dropped = new Set(
    lines.filter((line) => line.startsWith(DROPPED)).map((line) => line.slice(DROPPED.length)),
  );
  const kept = lines.filter((line) => {
    if (!line.startsWith(ADDED)) return true;
    const record = line.slice(ADDED.length);
    const part = parsePart(record.split('\t')[0] ?? '');
    return part === undefined || dropped.has(record) || parts.some((held) => holds(held, part));
  });
  if (kept.length === lines.length) return 0;
  writeFileSync(path + UNFINISHED, kept.join('\n'), { flush: true });
  renameSync(path + UNFINISHED, path);
  return lines.length - kept.length;
}

/** A record of the log: an operation, the part's name, and the token with its partition, separated by tabs. */
const ADDED = '1\t';
const DROPPED = '2\t';

/** Parses `202601_3_7_2` or, once mutated, `202601_3_7_2_9`; undefined for `tmp_insert_…`, `detached` and the like. */
function parsePart(name: string): Part | undefined {
  const match = /^([^_]+)_(\d+)_(\d+)_\d+(?:_\d+)?$/.exec(name);
  const [, partition, first, last] = match ?? [];
  return partition === undefined ? undefined : { partition, first: Number(first), last: Number(last) };
}

function isPart(part: Part | undefined): part is Part {
  return part !== undefined;
}

function holds(held: Part, part: Part): boolean {
  return held.partition === part.partition && held.first <= part.first && part.last <= held.last;
}
