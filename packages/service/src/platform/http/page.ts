import { LIST_LIMIT_DEFAULT } from '@tollgate/contract';

/** The part of a list that is asked for. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** The page that a list's query string asks for (see `PageQuery` in the contract). */
export function pageOf(query: { limit?: number; offset?: number }): Page {
  return { limit: query.limit ?? LIST_LIMIT_DEFAULT, offset: query.offset ?? 0 };
}
