import type { Code } from '../code.js';
import type { Run } from '../value.js';

/** A function that expressions may call. */
export interface FunctionDefinition {
  readonly name: string;
  /** Whether the call is `value.name(…)` instead of `name(…)`; the receiver is then the first argument. */
  readonly method?: true;
  /** CEL signatures for the type check; empty for functions that CEL defines itself. */
  readonly signatures: readonly string[];
  /** A call for messages: decimals by type, other arguments by name, e.g. `dec_div(Decimal, Decimal, scale)`. */
  readonly usage: string;
  /**
   * Compiles a call. Arguments have passed the type check; those of type dyn must be checked at run time.
   * @throws Refusal for what is known to be wrong already
   */
  compile(args: readonly Code[], call: Pick<Code, 'node' | 'site'>): Run;
}

/** Returns the nth argument; the type check has counted them. */
export function argument(args: readonly Code[], index: number): Code {
  const code = args[index];
  if (code === undefined) throw new Error(`argument ${index} is missing after the type check`);
  return code;
}
