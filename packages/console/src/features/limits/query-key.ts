/** Under which everything about limits is remembered: a change of any of it may be one of all. */
export const LIMITS = 'limits';

/** Entries of a page of a list. */
export const PAGE_SIZE = 25;
