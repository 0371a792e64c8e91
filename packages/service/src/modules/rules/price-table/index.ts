export { IMPORTED_PRIORITY } from './convert-row.js';
export {
  type ConversionOptions,
  type ConvertedTable,
  convertPriceTable,
  type ModelsBy,
  PriceTableError,
} from './convert-table.js';
