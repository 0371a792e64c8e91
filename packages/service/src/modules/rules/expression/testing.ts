import { type Decimal, parseDecimal } from '../../../kernel/decimal.js';
import { compileExpression, EventSteps, type ExpressionEnv, type ExpressionKind } from './index.js';

/** A decimal that the test wrote down. */
export function decimal(text: string): Decimal {
  const parsed = parseDecimal(text);
  if (parsed === undefined) throw new Error(`not a decimal: ${text}`);
  return parsed;
}

/** 1,500.5 tokens of a gpt-4o call by user u-1, at 0.002 each. */
export function envWith(changes: Partial<ExpressionEnv> = {}): ExpressionEnv {
  return {
    quantity: decimal('1500.5'),
    unitPrice: decimal('0.002'),
    metric: 'llm.input_tokens',
    unit: 'token',
    dimensions: new Map<string, Decimal | string | boolean>([
      ['model', 'gpt-4o'],
      ['seats', decimal('3.5')],
      ['batch', true],
      ['service-tier', 'flex'],
      ['constructor', 'ford'],
    ]),
    subject: { type: 'user', id: 'u-1' },
    occurredAt: 1_790_000_000,
    steps: new EventSteps(),
    ...changes,
  };
}

/**
 * Returns the outcome of an expression: its value as text, `refused: …` when it is saved, or `fails: …` for the event.
 */
export function outcomeOf(source: string, kind: ExpressionKind, env = envWith()): string {
  const compiled = compileExpression(source, { kind });
  return compiled.ok ? evaluated(source, kind, env) : `refused: ${compiled.issue.message}`;
}

/** Returns the value of an expression as text, or `fails: ` and how it fails for the event. */
export function evaluated(source: string, kind: ExpressionKind, env = envWith()): string {
  const compiled = compileExpression(source, { kind });
  if (!compiled.ok) throw new Error(`${source} was refused: ${compiled.issue.message}`);
  try {
    return String(compiled.evaluate(env));
  } catch (error) {
    return `fails: ${(error as Error).message}`;
  }
}

export const amountOf = (source: string, env?: ExpressionEnv) => evaluated(source, 'amount', env);
export const matchOf = (source: string, env?: ExpressionEnv) => evaluated(source, 'match', env);

/** Returns why an expression is refused when it is saved. */
export function refusalOf(source: string, kind: ExpressionKind = 'amount'): string {
  const compiled = compileExpression(source, { kind });
  if (compiled.ok) throw new Error(`${source} was accepted`);
  return compiled.issue.message;
}
