import { compilePath, type ReadPath } from './path.js';

/** One thing that is wrong with a rule set. */
export interface Issue {
  /** Place in the configuration, e.g. `charge_item_extractors[1].amount_expr`. */
  readonly path: string;
  readonly message: string;
}

/** Everything that is wrong with a rule set: users mend it in one go. */
export class Issues {
  readonly found: Issue[] = [];

  add(path: string, message: string): void {
    this.found.push({ path, message });
  }

  /** Compiles a JSON path of the configuration, where there is one. Undefined also when it is wrong. */
  path(source: string | undefined, path: string): ReadPath | undefined {
    if (source === undefined) return undefined;
    const compiled = compilePath(source);
    if (compiled.ok) return compiled.read;
    this.add(path, compiled.message);
    return undefined;
  }
}
