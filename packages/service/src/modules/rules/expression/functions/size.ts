import { boundedText } from '../code.js';
import type { Site } from '../site.js';
import { refuse, type StaticType } from '../syntax.js';
import type { Value } from '../value.js';
import { argument, type FunctionDefinition } from './definition.js';

const SIZED: readonly StaticType[] = ['string', 'list', 'map', 'dyn'];
const EXPECTATION = 'size() expects a string, list or map';

/** Counts characters (code points) of a string, elements of a list, keys of a map. */
function sizeOf(value: Value, site: Site): bigint {
  if (typeof value === 'string') return BigInt(codePoints(boundedText(value, site)));
  if (Array.isArray(value)) return BigInt(value.length);
  return value instanceof Map ? BigInt(value.size) : site.fail(EXPECTATION);
}

function codePoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; count++) at += (text.codePointAt(at) as number) > 0xffff ? 2 : 1;
  return count;
}

function sizeFunction(form: Pick<FunctionDefinition, 'method' | 'usage'>): FunctionDefinition {
  return {
    ...form,
    name: 'size',
    signatures: [],
    compile: (args, { site }) => {
      const { run, type, node } = argument(args, 0);
      if (!SIZED.includes(type)) refuse(node, `${EXPECTATION}, found ${type}`);
      return (env) => sizeOf(run(env), site);
    },
  };
}

export const size = sizeFunction({ usage: 'size(string | list | map)' });
export const sizeMethod = sizeFunction({ method: true, usage: '(string | list | map).size()' });
