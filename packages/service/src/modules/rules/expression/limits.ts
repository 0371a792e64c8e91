/** Nesting of parentheses, calls and indexes that the parser follows. */
export const PARSER_DEPTH_MAX = 64;
/** Depth of the syntax tree. A chain of operators is one level per operator. */
export const TREE_DEPTH_MAX = 250;
/** Nesting of list and map literals: a list of tiers takes two. */
export const LITERAL_DEPTH_MAX = 3;
/** Nodes that one macro may evaluate over all elements. */
export const MACRO_STEPS_MAX = 10_000;
/** Longest text that an expression computes with. */
export const STRING_CHARS_MAX = 4_096;
/** Fraction digits that may be asked of dec_div, dec_round, dec_floor and dec_ceil. */
export const SCALE_ARGUMENT_MAX = 38;

export const INT_MIN = -(2n ** 63n);
export const INT_MAX = 2n ** 63n - 1n;
