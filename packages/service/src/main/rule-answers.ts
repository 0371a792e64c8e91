import { appliedAliases } from '../modules/rules/index.js';
import type { AliasQuestion, AnswerAliases } from '../modules/usage/index.js';

/**
 * Upper bound of the expressions that the main thread compiles for one event, in characters; that takes less than two
 * milliseconds.
 */
const QUICK_CHARS_MAX = 4_096;

/** Whether the questions about an event are as short as usual, so that no other thread is needed. */
export function isQuick(questions: readonly AliasQuestion[]): boolean {
  const chars = questions.reduce((sum, { rule }) => sum + (rule.match_expr?.length ?? 0), 0);
  return chars <= QUICK_CHARS_MAX;
}

/** Answers the questions on the calling thread. */
export function answersOf(questions: readonly AliasQuestion[]): Awaited<ReturnType<AnswerAliases>> {
  return questions.map(({ config, rule, item }) => appliedAliases(config, rule, item));
}
