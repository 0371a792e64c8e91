import { abs } from '../../../../kernel/decimal.js';
import { unaryFunction } from './decimal-operation.js';

/** The value without its sign. */
export const decAbs = unaryFunction('dec_abs', abs);
