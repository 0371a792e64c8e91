import { dec, double, dyn, int, string } from './conversions.js';
import {
  decAbs,
  decAdd,
  decCeil,
  decCmp,
  decDiv,
  decFloor,
  decMax,
  decMin,
  decMul,
  decNeg,
  decRound,
  decSub,
} from './decimals.js';
import type { FunctionDefinition } from './definition.js';
import { size, sizeMethod } from './size.js';
import { contains, endsWith, lowerAscii, startsWith, trim, upperAscii } from './texts.js';
import { tierPackage } from './tier-package.js';
import { tierGraduated, tierVolume } from './tiers.js';

export { decimalOperation } from './decimals.js';
export { startedPackages } from './tier-package.js';

/** All functions: a function of CEL that is not listed here cannot be used. */
export const FUNCTIONS: readonly FunctionDefinition[] = [
  ...[dec, decAdd, decSub, decMul, decDiv, decNeg, decAbs, decMin, decMax],
  ...[decRound, decFloor, decCeil, decCmp],
  ...[tierGraduated, tierVolume, tierPackage],
  ...[startsWith, endsWith, contains, lowerAscii, upperAscii, trim],
  ...[int, double, string, dyn, size, sizeMethod],
];

export const FUNCTION_SIGNATURES: readonly string[] = FUNCTIONS.flatMap(({ signatures }) => signatures);

const functionsByName = new Map(FUNCTIONS.map((definition) => [keyOf(definition), definition]));

function keyOf({ name, method }: { name: string; method?: true }): string {
  return method ? `.${name}` : name;
}

export function findFunction(name: string, isMethod: boolean): FunctionDefinition | undefined {
  return functionsByName.get(keyOf(isMethod ? { name, method: true } : { name }));
}
