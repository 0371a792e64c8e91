export {
  type CompiledExpression,
  compileExpression,
  type ExpressionKind,
  type ExpressionOptions,
} from './compile-expression.js';
export { FUNCTIONS } from './functions/index.js';
export type { ExpressionIssue } from './issue.js';
export {
  type DimensionValue,
  type ExpressionEnv,
  ExpressionError,
  type Subject,
} from './value.js';
