import { max } from '../../../../kernel/decimal.js';
import { binaryFunction } from './decimal-operation.js';

/** The greater of two; the first of equal ones. */
export const decMax = binaryFunction('dec_max', max);
