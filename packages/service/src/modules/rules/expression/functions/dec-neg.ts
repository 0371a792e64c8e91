import { neg } from '../../../../kernel/decimal.js';
import { unaryFunction } from './decimal-operation.js';

/** The value with the other sign. */
export const decNeg = unaryFunction('dec_neg', neg);
