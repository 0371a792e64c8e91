import { ParseError, TypeError as TypeIssue } from '@marcbachmann/cel-js';
import { nearestName } from '@tollgate/contract';
import { FUNCTIONS } from './functions/index.js';
import { Refusal } from './syntax.js';
import { ExpressionError, type Position, placed, positionAt } from './value.js';

/** Names that a misspelt name is compared with. */
const VARIABLES = ['item', 'dimensions', 'subject', 'occurred_at', 'total'];
const FIELDS = ['quantity', 'metric', 'unit', 'unit_price', 'type', 'id'];
const FUNCTION_NAMES = FUNCTIONS.map(({ name }) => name);

/** Why an expression was refused when it was saved. */
export interface ExpressionIssue extends Position {
  /** Starts with the position and says what was expected there. */
  readonly message: string;
}

const TOKENS: Readonly<Record<string, string>> = {
  ...{ EOF: 'the end of the expression', RPAREN: '")"', LPAREN: '"("', RBRACKET: '"]"', LBRACKET: '"["' },
  ...{ RBRACE: '"}"', LBRACE: '"{"', COLON: '":"', COMMA: '","', DOT: '"."', QUESTION: '"?"', NOT: '"!"' },
  ...{
    IDENTIFIER: 'a name',
    NUMBER: 'a number',
    STRING: 'a string',
    BYTES: 'bytes',
    BOOLEAN: 'true or false',
  },
  ...{ PLUS: '"+"', MINUS: '"-"', MULTIPLY: '"*"', DIVIDE: '"/"', MODULO: '"%"', EQ: '"=="', NE: '"!="' },
  ...{ LT: '"<"', LE: '"<="', GT: '">"', GE: '">="', AND: '"&&"', OR: '"||"', IN: '"in"', NULL: 'null' },
};

/** Returns the issue behind an error of compiling an expression; any other error is thrown again. */
export function issueOf(error: unknown, source: string): ExpressionIssue {
  if (error instanceof Refusal) return issueAt(source, error.offset, error.reason);
  if (error instanceof ExpressionError) return { ...error.position, message: error.message };
  if (error instanceof ParseError || error instanceof TypeIssue) {
    return issueAt(source, error.range?.start ?? 0, explain(error.code, error.summary));
  }
  throw error;
}

export function issueAt(source: string, offset: number, reason: string): ExpressionIssue {
  const position = positionAt(source, offset);
  return { ...position, message: placed(position, reason) };
}

/** Explains in the user's words what cel-js found, and adds what was expected where cel-js does not say it. */
export function explain(code: string, summary: string): string {
  switch (code) {
    case 'expected_token':
      return summary.replace(/^Expected (\w+), got (\w+)/, (_, expected: string, found: string) => {
        return `expected ${TOKENS[expected] ?? expected}, found ${TOKENS[found] ?? found}`;
      });
    case 'unexpected_token':
      return summary.replace(/^Unexpected token: (\w+)/, (_, found: string) => {
        return `expected a value, found ${TOKENS[found] ?? found}`;
      });
    case 'unexpected_character':
      return `${lowerFirst(summary)}; expected an operator or the end of the expression`;
    case 'unknown_variable':
      return `${lowerFirst(summary)}; ${expectedVariable(summary)}`;
    case 'no_such_key':
      return summary === 'No such key: unit_price'
        ? 'item.unit_price is not known here; expected quantity, metric or unit'
        : `${lowerFirst(summary)}; ${meant(summary, FIELDS) ?? 'expected a field of item or subject'}`;
    case 'no_matching_overload':
      return `${summary}; ${expectedCall(summary)}`;
    case 'no_such_overload':
      return `${summary}; expected ${expectedOperands(summary)}`;
    case 'limit_exceeded':
      return `${lowerFirst(summary)}: the expression is too large or nested too deeply`;
    default:
      return lowerFirst(summary);
  }
}

/** The price of a total sees other variables than all other expressions. */
function expectedVariable(summary: string): string {
  const name = lastName(summary);
  if (name === 'total') return 'only total_expr has it';
  if (VARIABLES.includes(name)) return 'expected total or dimensions';
  return meant(summary, VARIABLES) ?? 'expected item, dimensions, subject or occurred_at';
}

function expectedOperands(summary: string): string {
  if (summary.includes('Decimal / ')) return 'dec_div(Decimal, Decimal, scale)';
  return summary.includes('Decimal') ? 'two decimals, write dec(…)' : 'operands that have this operator';
}

/** Returns a question with the name that is nearest to the one at the end of a summary. */
function meant(summary: string, names: readonly string[]): string | undefined {
  const near = nearestName(lastName(summary), names);
  return near === undefined ? undefined : didYouMean(near);
}

function lastName(summary: string): string {
  return /\w*$/.exec(summary)?.[0] ?? '';
}

function didYouMean(name: string): string {
  return `did you mean ${name}?`;
}

function usagesOf(name: string): string[] {
  return FUNCTIONS.filter((definition) => definition.name === name).map(({ usage }) => usage);
}

function expectedCall(summary: string): string {
  const name = /'(?:[^']*\.)?(\w+)\(/.exec(summary)?.[1] ?? '';
  const usages = usagesOf(name);
  if (usages.length > 0) return `expected ${usages.join(' or ')}`;
  const near = nearestName(name, FUNCTION_NAMES);
  return near === undefined
    ? 'expected one of the documented functions'
    : didYouMean(usagesOf(near).join(' or '));
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
