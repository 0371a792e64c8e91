import type { BoundedMemory, Forgettable } from '../../../kernel/bounded-memory.js';

/** The compiled expression, or the error in it. */
export type CompileResult<Code> =
  | { readonly ok: true; readonly code: Code }
  | { readonly ok: false; readonly message: string };

/** Compiled code takes far more memory than the source; at least this many bytes. */
const CODE_BYTES_MIN = 100;

/** An expression of a rule set: compiled when it is first needed, and again after its code was dropped. */
export class RuleExpression<Code extends object> implements Forgettable {
  readonly #compile: () => CompileResult<Code>;
  readonly #memory: BoundedMemory | undefined;
  readonly bytes: number;
  #code: Code | undefined;

  /**
   * @param path the entry in the rule set, e.g. `charge_item_extractors[0].amount_expr`
   * @param memory keeps compiled code, and may drop it; without one it is always kept
   */
  constructor(
    readonly path: string,
    source: string,
    compile: () => CompileResult<Code>,
    memory: BoundedMemory | undefined,
  ) {
    this.#compile = compile;
    this.#memory = memory;
    this.bytes = source.length + CODE_BYTES_MIN;
  }

  /** @throws Error when the expression, which compiled when it was saved, no longer does */
  get code(): Code {
    return this.#code ?? this.#compiled();
  }

  /** Returns the error in the expression, if there is one. */
  check(): string | undefined {
    const result = this.#compile();
    if (!result.ok) return result.message;
    this.#code = result.code;
    return undefined;
  }

  forget(): void {
    this.#code = undefined;
  }

  #compiled(): Code {
    const problem = this.check();
    const code = this.#code;
    if (code === undefined) throw new Error(`${this.path} no longer compiles: ${problem}`);
    this.#memory?.add(this);
    return code;
  }
}
