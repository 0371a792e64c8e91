import { floor } from '../../../../kernel/decimal.js';
import { roundingFunction } from './rounding.js';

/** Down, toward negative infinity, to a number of fraction digits. */
export const decFloor = roundingFunction('dec_floor', floor);
