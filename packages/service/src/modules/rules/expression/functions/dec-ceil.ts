import { ceil } from '../../../../kernel/decimal.js';
import { roundingFunction } from './rounding.js';

/** Up, toward positive infinity, to a number of fraction digits. */
export const decCeil = roundingFunction('dec_ceil', ceil);
