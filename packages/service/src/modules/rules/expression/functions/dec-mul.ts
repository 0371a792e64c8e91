import { mul } from '../../../../kernel/decimal.js';
import { binaryFunction } from './decimal-operation.js';

/** The exact product. */
export const decMul = binaryFunction('dec_mul', mul);
