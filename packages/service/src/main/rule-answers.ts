import { explainedRule } from '../modules/rules/index.js';
import type { AnswerRules, RuleQuestion } from '../modules/usage/index.js';

/**
 * Upper bound of the expressions that the main thread compiles for one event, in characters; that takes less than two
 * milliseconds.
 */
const QUICK_CHARS_MAX = 4_096;

/** Whether the questions about an event are as short as usual, so that no other thread is needed. */
export function isQuick(questions: readonly RuleQuestion[]): boolean {
  const chars = questions.reduce(
    (sum, { rule, total }) => sum + (rule.match_expr?.length ?? 0) + (total?.expression.length ?? 0),
    0,
  );
  return chars <= QUICK_CHARS_MAX;
}

/** Returns the answers to questions about rules, on the calling thread. */
export function answersOf(questions: readonly RuleQuestion[]): Awaited<ReturnType<AnswerRules>> {
  return questions.map(explainedRule);
}
