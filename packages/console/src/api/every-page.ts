import { request, withQuery } from './client.js';

interface Page {
  readonly total_count: number;
}

const PAGE_SIZE = 100;
/** Longer lists are cut. */
const ENTRIES_MAX = 1_000;

/** All entries of a short list, such as those of the settings. */
export async function everyPage<P extends Page, T>(
  path: string,
  entriesOf: (page: P) => readonly T[],
): Promise<T[]> {
  const found: T[] = [];
  for (let offset = 0; offset < ENTRIES_MAX; offset += PAGE_SIZE) {
    const page = await request<P>('GET', withQuery(path, { limit: PAGE_SIZE, offset }));
    found.push(...entriesOf(page));
    if (offset + PAGE_SIZE >= page.total_count) break;
  }
  return found;
}
