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
export { type Lists, type Maps, type NativeRows, readNative, type Values } from './native-reader.js';
