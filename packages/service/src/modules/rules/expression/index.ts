export { compileExpression, type ExpressionKind, type ExpressionOptions } from './compile-expression.js';
export { FUNCTIONS, startedPackages } from './functions/index.js';
export { EVENT_STEPS_MAX } from './limits.js';
export { EventSteps, EventStepsError } from './steps.js';
export { dimensionsIn, readsDimension, type TextCondition, textConditions } from './text-conditions.js';
export { type Literal, tierCallOf } from './tier-call.js';
export {
  type DimensionValue,
  type ExpressionEnv,
  ExpressionError,
  type SubjectValue,
} from './value.js';
