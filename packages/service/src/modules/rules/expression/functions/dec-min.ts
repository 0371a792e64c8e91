import { min } from '../../../../kernel/decimal.js';
import { binaryFunction } from './decimal-operation.js';

/** The lesser of two; the first of equal ones. */
export const decMin = binaryFunction('dec_min', min);
