const PAGE_SIZE = 100;
/** Longer lists are cut. */
const ENTRIES_MAX = 1_000;

type ReadPage<Page> = (page: { readonly limit: number; readonly offset: number }) => Promise<Page>;

/** Entries of a list from its start on, and how many entries there are. */
export interface FirstEntries<Entry> {
  readonly entries: readonly Entry[];
  readonly total: number;
}

/** All entries of a short list, such as those of the settings. */
export async function everyPage<Page extends { readonly total_count: number }, Entry>(
  read: ReadPage<Page>,
  entriesOf: (page: Page) => readonly Entry[],
  entriesMax = ENTRIES_MAX,
): Promise<readonly Entry[]> {
  return (await firstEntries(read, entriesOf, entriesMax)).entries;
}

/** The entries of a list that can be too long to read all of it. */
export async function firstEntries<Page extends { readonly total_count: number }, Entry>(
  read: ReadPage<Page>,
  entriesOf: (page: Page) => readonly Entry[],
  entriesMax = ENTRIES_MAX,
): Promise<FirstEntries<Entry>> {
  const entries: Entry[] = [];
  let total = 0;
  for (let offset = 0; offset < entriesMax; offset += PAGE_SIZE) {
    const page = await read({ limit: PAGE_SIZE, offset });
    entries.push(...entriesOf(page));
    total = page.total_count;
    if (offset + PAGE_SIZE >= total) break;
  }
  return { entries, total };
}
