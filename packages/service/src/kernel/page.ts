/** The part of a list that the caller asks for. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** One page of a list, and the number of all its items. */
export interface ListPage<Item> {
  readonly items: Item[];
  readonly totalCount: number;
}
