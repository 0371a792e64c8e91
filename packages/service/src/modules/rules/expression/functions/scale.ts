import { asInt, type Code, foldConstant } from '../code.js';
import { SCALE_ARGUMENT_MAX } from '../limits.js';
import type { Run } from '../value.js';

/** A number of fraction digits that is given as an int; one that is written out is checked at once. */
export function asScale(code: Code): Code<number> {
  const { run, site } = asInt(code);
  const checked: Run<number> = (env) => {
    const scale = run(env);
    if (scale >= 0n && scale <= SCALE_ARGUMENT_MAX) return Number(scale);
    return site.fail(`expected a scale from 0 to ${SCALE_ARGUMENT_MAX} fraction digits`);
  };
  return foldConstant({ ...code, run: checked }, [code], 'refuse') as Code<number>;
}
