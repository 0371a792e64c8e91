import { FRACTION_DIGITS_MAX } from '../../kernel/decimal.js';
import type { Amount } from './amount.js';

/** Text that needs no quotes in an array literal; a bare `null` would become a null. */
const PLAIN = /^(?!null$)[\w-]+$/i;

/**
 * Writes the columns of a batch as array literals of PostgreSQL. Ids, currencies and amounts need no quotes, and arrays
 * of thousands are built in a fraction of the driver's time.
 */
export function columnsOf<Row>(rows: readonly Row[]) {
  return {
    /**
     * For ids, currencies and words of this service.
     *
     * @throws RangeError for text that would need quotes
     */
    words: (word: (row: Row) => string) => {
      const texts = rows.map(word);
      if (!texts.every((text) => PLAIN.test(text)))
        throw new RangeError('a text would need quotes in an array literal');
      return `{${texts.join()}}`;
    },
    amounts: (amount: (row: Row) => Amount | null) =>
      `{${rows.map((row) => numericText(amount(row))).join()}}`,
    integers: (integer: (row: Row) => number | null) =>
      `{${rows.map((row) => integer(row) ?? 'null').join()}}`,
  };
}

function numericText(amount: Amount | null): string {
  return amount === null ? 'null' : `${amount}e-${FRACTION_DIGITS_MAX}`;
}
