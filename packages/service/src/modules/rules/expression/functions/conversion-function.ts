import { refuse, type StaticType } from '../syntax.js';
import type { Value } from '../value.js';
import { argument, type FunctionDefinition } from './definition.js';

/** `name(value)`, for values of the types in `from`; `convert` yields undefined for one that it cannot convert. */
export function conversionFunction(
  name: string,
  from: readonly StaticType[],
  signatures: readonly string[],
  convert: (value: Value) => Value | undefined,
): FunctionDefinition {
  const expectation = `${name}() expects ${from.join(', ')}`;
  return {
    name,
    signatures,
    usage: `${name}(${from.join(' | ')})`,
    compile: (args, { site }) => {
      const { run, type, node } = argument(args, 0);
      if (type !== 'dyn' && !from.includes(type)) refuse(node, `${expectation}, found ${type}`);
      return (env) => convert(run(env)) ?? site.fail(`${expectation} that can be converted`);
    },
  };
}
