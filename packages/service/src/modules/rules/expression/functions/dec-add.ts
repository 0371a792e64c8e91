import { add } from '../../../../kernel/decimal.js';
import { binaryFunction } from './decimal-operation.js';

/** The exact sum. */
export const decAdd = binaryFunction('dec_add', add);
