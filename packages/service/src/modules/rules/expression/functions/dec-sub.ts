import { sub } from '../../../../kernel/decimal.js';
import { binaryFunction } from './decimal-operation.js';

/** The exact difference. */
export const decSub = binaryFunction('dec_sub', sub);
