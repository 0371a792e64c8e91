import { LIST_LIMIT_DEFAULT } from '@tollgate/contract';
import type { Page } from '../../kernel/page.js';

/** Returns the page that a list's query string requests (see `PageQuery` in the contract). */
export function pageOf(query: { limit?: number; offset?: number }): Page {
  return { limit: query.limit ?? LIST_LIMIT_DEFAULT, offset: query.offset ?? 0 };
}
