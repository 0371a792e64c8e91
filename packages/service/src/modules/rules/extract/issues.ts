import { RULE_SET_SUM_PATHS_MAX } from '@tollgate/contract';
import type { BoundedMemory } from '../../../kernel/bounded-memory.js';
import { compilePath, type PathSegment, type ReadPath } from './path.js';
import { type CompileResult, RuleExpression } from './rule-expression.js';
import { compileSumPath, type ReadNodes } from './sum-path.js';

/** One problem of a rule set. */
export interface Issue {
  /** Place in the configuration, e.g. `charge_item_extractors[1].amount_expr`. */
  readonly path: string;
  readonly message: string;
}

/** All problems of a rule set, so that users can correct it in one go. */
export class Issues {
  readonly #codeMemory: BoundedMemory | undefined;
  readonly found: Issue[] = [];
  /** All paths that were compiled. */
  readonly paths: (readonly PathSegment[])[] = [];
  #sumPaths = 0;

  /** @param codeMemory of expressions that were checked when they were saved: they are compiled when they are needed */
  constructor(codeMemory?: BoundedMemory) {
    this.#codeMemory = codeMemory;
  }

  add(path: string, message: string): void {
    this.found.push({ path, message });
  }

  /** Compiles a JSON path of the configuration. Returns undefined when there is none, and when it is invalid. */
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

  /** Compiles paths that may select many nodes. An invalid one selects none. */
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

  /** Compiles an expression of the configuration; undefined when there is none. */
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
