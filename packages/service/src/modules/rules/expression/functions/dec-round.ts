import { round } from '../../../../kernel/decimal.js';
import { roundingFunction } from './rounding.js';

/** Half-even to a number of fraction digits. */
export const decRound = roundingFunction('dec_round', round);
