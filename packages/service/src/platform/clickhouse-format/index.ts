export { ByteWriter } from './byte-writer.js';
export {
  ArrayColumn,
  DictionaryColumn,
  ListLengths,
  MapColumn,
  type NamedColumn,
  NullableColumn,
  nativeBlock,
  PlainColumn,
} from './native-block.js';
