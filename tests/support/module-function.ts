import { createRequire } from 'node:module';
import type * as Sdk from '@tollgate/sdk';

interface ModuleParts {
  readonly sdk: typeof Sdk;
  /** Names that the code finds as if they were global. */
  readonly inputs: readonly string[];
  /** Names of the constants to return. */
  readonly answered: readonly string[];
}

/**
 * Makes a function of a module's code, as a README shows it. The function takes the names that the code does not import
 * and returns some of its constants.
 */
export function moduleFunction(code: string, { sdk, inputs, answered }: ModuleParts) {
  const body = code
    .replace(/^import \{ (.*) \} from '@tollgate\/sdk';$/gm, 'const { $1 } = sdk;')
    .replace(
      /^import \{ (.*) \} from '(node:.*)';$/gm,
      (_, names: string, from) => `const { ${names.replaceAll(' as ', ': ')} } = require('${from}');`,
    );
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
  const run = new AsyncFunction('sdk', 'require', ...inputs, `${body}\nreturn { ${answered.join(', ')} };`);
  return (...values: unknown[]) => run(sdk, createRequire(import.meta.url), ...values);
}
