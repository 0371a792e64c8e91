import { LIST_LIMIT_DEFAULT } from '@tollgate/contract';
import type { Page } from '../../kernel/page.js';

/** The page that a list's query string asks for (see `PageQuery` in the contract). */
export function pageOf(query: { limit?: number; offset?: number }): Page {
  return { limit: query.limit ?? LIST_LIMIT_DEFAULT, offset: query.offset ?? 0 };
}
