import { type Decimal, parseDecimal } from '../../../../kernel/decimal.js';
import { toDecimal } from '../code.js';
import { refuse } from '../syntax.js';
import type { Value } from '../value.js';
import { argument, type FunctionDefinition } from './definition.js';

const CONVERTIBLE: readonly string[] = ['string', 'int', 'double', 'Decimal', 'dyn'];

/** The decimal that a text, number or decimal denotes; undefined when it denotes none. */
function convert(value: Value): Decimal | undefined {
  return typeof value === 'string' ? parseDecimal(value) : toDecimal(value);
}

/** The one way into decimals. Text is read in the grammar of JSON's numbers. */
export const dec: FunctionDefinition = {
  name: 'dec',
  signatures: ['dec(string): Decimal', 'dec(int): Decimal', 'dec(double): Decimal', 'dec(Decimal): Decimal'],
  usage: 'dec(string | int | double | Decimal)',
  compile: (args, { site }) => {
    const { run, type, node } = argument(args, 0);
    if (!CONVERTIBLE.includes(type)) refuse(node, `dec() expects a string, int or double, found ${type}`);
    return (env) => convert(run(env)) ?? site.fail('dec() expects a number such as "0.25"');
  },
};
