/** Upper bound of the nesting of parentheses, calls and indexes in the parser. */
export const PARSER_DEPTH_MAX = 64;
/** Depth of the syntax tree. A chain of operators is one level per operator. */
export const TREE_DEPTH_MAX = 250;
/** Nesting of list and map literals: a list of tiers takes two. */
export const LITERAL_DEPTH_MAX = 3;
/** Upper bound of the steps of one evaluation: see the constants below, and `steps.ts`. */
export const STEPS_MAX = 10_000;
/**
 * Upper bound of the steps of all evaluations for one event together, including the length of each expression. More
 * than four times the steps of the largest real rules: 500 rules that no text finds, each a macro over three prefixes
 * of model names, take 58,385, for one metric or for a hundred. 500 rules with a prefix and a quantity take 42,916, a
 * whole public price table of 11,029 rules with its aliases 2,262 (`real-steps.test.ts`).
 */
export const EVENT_STEPS_MAX = 250_000;
/** Steps of an operator or a function, in each round of a macro and for the event. Any other part is one step. */
export const OPERATION_STEPS = 20;
/** Steps that a failure takes of its event: throwing is slow, and `&&`, `||` and matches continue after it. */
export const FAILURE_STEPS = 50;
/** Steps of reading one element of a list or map, to find or to compare it. */
export const ELEMENT_STEPS = 8;
/** Steps of reading one tier from a list that is known only at run time. */
export const TIER_STEPS = 20;
/** Characters of text that one step computes with. */
export const STEP_CHARS = 32;
/** Longest text that an expression computes with. */
export const STRING_CHARS_MAX = 4_096;
/** Longest text that contains() searches for. */
export const SEARCHED_CHARS_MAX = 256;
/** Upper bound of the fraction digits in dec_div, dec_round, dec_floor and dec_ceil. */
export const SCALE_ARGUMENT_MAX = 38;

export const INT_MIN = -(2n ** 63n);
export const INT_MAX = 2n ** 63n - 1n;
