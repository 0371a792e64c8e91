/** First part of the query keys of everything about limits: a change to one part can affect all of them. */
export const LIMITS = 'limits';

/** Entries per page of a list. */
export const PAGE_SIZE = 25;
