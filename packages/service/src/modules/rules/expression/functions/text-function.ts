import { asText } from '../code.js';
import type { Site } from '../site.js';
import type { Run } from '../value.js';
import { argument, type FunctionDefinition } from './definition.js';

/** `text.name(part)`; CEL itself defines the signatures. */
export function textTest(
  name: string,
  test: (text: string, part: string, site: Site) => boolean,
): FunctionDefinition {
  return {
    name,
    method: true,
    signatures: [],
    usage: `string.${name}(string)`,
    compile: (args): Run => {
      const { run: runText } = asText(argument(args, 0));
      const { run: runPart, site } = asText(argument(args, 1));
      return (env) => test(runText(env), runPart(env), site);
    },
  };
}

/** `text.name()`, by a function whose work grows with the text no faster than its length. */
export function textTransformation(name: string, transform: (text: string) => string): FunctionDefinition {
  return {
    name,
    method: true,
    signatures: [],
    usage: `string.${name}()`,
    compile: (args): Run => {
      const { run } = asText(argument(args, 0));
      return (env) => transform(run(env));
    },
  };
}
