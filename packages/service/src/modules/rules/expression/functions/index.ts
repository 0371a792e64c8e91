import { CONVERSION } from './conversion.js';
import { DECIMAL_ARITHMETIC } from './decimal-arithmetic.js';
import { DECIMAL_CONSTRUCTION } from './decimal-construction.js';
import { DECIMAL_ROUNDING } from './decimal-rounding.js';
import type { FunctionDefinition } from './definition.js';
import { TEXT } from './text.js';
import { TIERS } from './tiers.js';

export { decimalOperation } from './decimal-arithmetic.js';

/** All functions there are: a function of CEL that is not listed here cannot be used. */
export const FUNCTIONS: readonly FunctionDefinition[] = [
  ...DECIMAL_CONSTRUCTION,
  ...DECIMAL_ARITHMETIC,
  ...DECIMAL_ROUNDING,
  ...TIERS,
  ...TEXT,
  ...CONVERSION,
];

export const FUNCTION_SIGNATURES: readonly string[] = FUNCTIONS.flatMap(({ signatures }) => signatures);

const functionsByName = new Map(FUNCTIONS.map((definition) => [keyOf(definition), definition]));

function keyOf({ name, method }: { name: string; method?: true }): string {
  return method ? `.${name}` : name;
}

export function findFunction(name: string, isMethod: boolean): FunctionDefinition | undefined {
  return functionsByName.get(keyOf(isMethod ? { name, method: true } : { name }));
}
