export {
  type ConvertedModel,
  type ConvertedTable,
  convertPriceTable,
  type ModelsBy,
  PriceTableError,
} from './convert-table.js';
export { uniqueAliases } from './model-aliases.js';
