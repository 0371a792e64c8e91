import { asText } from '../code.js';
import type { Run } from '../value.js';
import { argument, type FunctionDefinition } from './definition.js';

/** `text.name(part)`; CEL itself defines the signatures. */
function comparison(name: string, test: (text: string, part: string) => boolean): FunctionDefinition {
  return {
    name,
    method: true,
    signatures: [],
    usage: `string.${name}(string)`,
    compile: (args): Run => {
      const { run: runText } = asText(argument(args, 0));
      const { run: runPart } = asText(argument(args, 1));
      return (env) => test(runText(env), runPart(env));
    },
  };
}

function transformation(name: string, transform: (text: string) => string): FunctionDefinition {
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

export const TEXT: readonly FunctionDefinition[] = [
  comparison('startsWith', (text, part) => text.startsWith(part)),
  comparison('endsWith', (text, part) => text.endsWith(part)),
  comparison('contains', (text, part) => text.includes(part)),
  // ASCII only, as the names say: other alphabets depend on the language, and may change the length.
  transformation('lowerAscii', (text) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())),
  transformation('upperAscii', (text) => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase())),
  transformation('trim', (text) => text.trim()),
];
