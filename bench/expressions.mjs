/**
 * Milliseconds per evaluation of the costliest expressions that can be saved, next to a trivial one and the
 * price of a usual charge item: for each the best of several rounds, because what else runs on the machine
 * only adds. Ends with exit code 1 when one takes longer than EVALUATION_MS_MAX. Needs `npm run build`.
 *
 *   node bench/expressions.mjs
 */
import {
  HOSTILE_EXPRESSIONS,
  hostileEnv,
} from '../packages/service/dist/modules/rules/expression/hostile.testing.js';
import { compileExpression } from '../packages/service/dist/modules/rules/expression/index.js';

const EVALUATION_MS_MAX = 5;
const ROUNDS = 7;
const ROUND_MS = 20;
const EVALUATIONS_MAX = 100_000;
const SLOWEST_SHOWN = 5;

const FLOORS = [
  { name: 'a trivial expression', kind: 'match', source: 'item.metric == "llm.input_tokens"' },
  { name: 'a usual price', kind: 'amount', source: 'dec_mul(item.quantity, dec("0.000002"))' },
];

const hostile = hostileEnv();
const usual = { ...hostile, quantity: evaluate(FLOORS[1], hostile, 'dec(1500)') };

const [floor] = FLOORS.map((expression) => {
  const ms = measure(expression, usual);
  console.log(`${expression.name}: ${(ms * 1e6).toFixed(0)} ns`);
  return ms;
});

const measured = HOSTILE_EXPRESSIONS.map((expression) => ({
  ...expression,
  ms: measure(expression, hostile),
}));
measured.sort((a, b) => b.ms - a.ms);
console.log(`${measured.length} hostile expressions, the slowest:`);
for (const { name, ms } of measured.slice(0, SLOWEST_SHOWN)) {
  console.log(
    `  ${name}: ${ms.toFixed(3)} ms, ${Math.round(ms / floor).toLocaleString('en-US')} × the trivial one`,
  );
}
if (measured[0].ms > EVALUATION_MS_MAX) {
  console.error(`${measured[0].name} takes more than ${EVALUATION_MS_MAX} ms`);
  process.exitCode = 1;
}

function evaluate({ kind }, env, source) {
  const compiled = compileExpression(source, { kind });
  if (!compiled.ok) throw new Error(compiled.issue.message);
  return compiled.evaluate(env);
}

function measure({ name, kind, source }, env) {
  const compiled = compileExpression(source, { kind });
  if (!compiled.ok) throw new Error(`${name}: ${compiled.issue.message}`);
  const once = timed(compiled, env, 1);
  const evaluations = Math.min(EVALUATIONS_MAX, Math.ceil(ROUND_MS / once));
  let best = once;
  for (let round = 0; round < ROUNDS; round++) {
    best = Math.min(best, timed(compiled, env, evaluations) / evaluations);
  }
  return best;
}

function timed(compiled, env, evaluations) {
  const started = performance.now();
  for (let count = 0; count < evaluations; count++) attempt(compiled, env);
  return performance.now() - started;
}

/** Failing is the usual end of a hostile expression. */
function attempt(compiled, env) {
  try {
    compiled.evaluate(env);
  } catch (error) {
    if (error.name !== 'ExpressionError') throw error;
  }
}
