import { RULE_SET_SUM_PATHS_MAX } from '@tollgate/contract';
import type { BoundedMemory } from '../../../kernel/bounded-memory.js';
import { compilePath, type PathSegment, type ReadPath } from './path.js';
import { type CompileResult, RuleExpression } from './rule-expression.js';
import { compileSumPath, type ReadNodes } from './sum-path.js';

/** One thing that is wrong with a rule set. */
export interface Issue {
  /** Place in the configuration, e.g. `charge_item_extractors[1].amount_expr`. */
  readonly path: string;
  readonly message: string;
}

/** Everything that is wrong with a rule set: users mend it in one go. */
export class Issues {
  readonly #codeMemory: BoundedMemory | undefined;
  readonly found: Issue[] = [];
  /** All paths that were compiled. */
  readonly paths: (readonly PathSegment[])[] = [];
  #sumPaths = 0;

  /** @param codeMemory of expressions that were checked when they were saved: they are compiled once they are needed */
  constructor(codeMemory?: BoundedMemory) {
    this.#codeMemory = codeMemory;
  }

  add(path: string, message: string): void {
    this.found.push({ path, message });
  }

  /** Compiles a JSON path of the configuration, where there is one. Undefined also when it is wrong. */
  path(source: string | undefined, path: string): ReadPath | undefined {
    if (source === undefined) return undefined;
    const compiled = compilePath(source);
    if (!compiled.ok) {
      this.add(path, compiled.message);
      return undefined;
    }
    this.paths.push(compiled.segments);
    return compiled.read;
  }

  /** Compiles paths that may select many nodes. One that is wrong selects none. */
  sumPaths(sources: readonly string[], path: string): ReadNodes[] {
    this.#sumPaths += sources.length;
    if (sources.length > 0 && this.#sumPaths > RULE_SET_SUM_PATHS_MAX)
      this.add(path, `expected at most ${RULE_SET_SUM_PATHS_MAX} in one rule set`);
    return sources.map((source, index) => {
      const compiled = compileSumPath(source);
      if (!compiled.ok) {
        this.add(`${path}[${index}]`, compiled.message);
        return () => [];
      }
      this.paths.push(compiled.segments);
      return compiled.read;
    });
  }

  /** An expression of the configuration, where there is one. */
  expression<Code extends object>(
    source: string | undefined,
    path: string,
    compile: (source: string) => CompileResult<Code>,
  ): RuleExpression<Code> | undefined {
    if (source === undefined) return undefined;
    const expression = new RuleExpression(path, source, () => compile(source), this.#codeMemory);
    const problem = this.#codeMemory === undefined ? expression.check() : undefined;
    if (problem !== undefined) this.add(path, problem);
    return expression;
  }
}
