import { nativeBlock, PlainColumn } from '../clickhouse-format/index.js';

/** A block of one column of strings. */
export function textRows(name: string, texts: readonly string[]): Buffer {
  const column = new PlainColumn('String');
  for (const text of texts) column.string(text);
  return Buffer.concat(nativeBlock(texts.length, [[name, column]]));
}
