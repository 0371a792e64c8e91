import { appliedAliases } from '../modules/rules/index.js';
import type { AliasQuestion, AnswerAliases } from '../modules/usage/index.js';

/** Longest expressions that the accepting thread compiles for one event; that takes less than two milliseconds. */
const QUICK_CHARS_MAX = 4_096;

/** Whether the questions about an event are those of usual rules, for which no other thread need be waited for. */
export function isQuick(questions: readonly AliasQuestion[]): boolean {
  const chars = questions.reduce((sum, { rule }) => sum + (rule.match_expr?.length ?? 0), 0);
  return chars <= QUICK_CHARS_MAX;
}

/** On the calling thread. */
export function answersOf(questions: readonly AliasQuestion[]): Awaited<ReturnType<AnswerAliases>> {
  return questions.map(({ config, rule, item }) => appliedAliases(config, rule, item));
}
