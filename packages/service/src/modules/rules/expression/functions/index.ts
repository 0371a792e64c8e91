import { contains } from './contains.js';
import { dec } from './dec.js';
import { decAbs } from './dec-abs.js';
import { decAdd } from './dec-add.js';
import { decCeil } from './dec-ceil.js';
import { decCmp } from './dec-cmp.js';
import { decDiv } from './dec-div.js';
import { decFloor } from './dec-floor.js';
import { decMax } from './dec-max.js';
import { decMin } from './dec-min.js';
import { decMul } from './dec-mul.js';
import { decNeg } from './dec-neg.js';
import { decRound } from './dec-round.js';
import { decSub } from './dec-sub.js';
import type { FunctionDefinition } from './definition.js';
import { double } from './double.js';
import { dyn } from './dyn.js';
import { endsWith } from './ends-with.js';
import { int } from './int.js';
import { lowerAscii } from './lower-ascii.js';
import { size, sizeMethod } from './size.js';
import { startsWith } from './starts-with.js';
import { string } from './string.js';
import { tierGraduated } from './tier-graduated.js';
import { tierPackage } from './tier-package.js';
import { tierVolume } from './tier-volume.js';
import { trim } from './trim.js';
import { upperAscii } from './upper-ascii.js';

export { decimalOperation } from './decimal-operation.js';

/** All functions there are: a function of CEL that is not listed here cannot be used. */
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
