import { createReadStream } from 'node:fs';
import { JsonDepthError, parseLossless } from '../../kernel/json/json.js';
import { StartError } from '../start-error.js';

/** About twenty times the table that gateways share today. */
const PRICE_FILE_BYTES_MAX = 32 * 1_048_576;

/**
 * Returns the JSON of a file, each number with all its digits.
 *
 * @throws StartError saying what is wrong with the file
 */
export async function readPriceFile(file: string): Promise<unknown> {
  const text = utf8Of(await bytesOf(file), file);
  try {
    return parseLossless(text);
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof JsonDepthError)) throw error;
    throw new StartError(`${file} cannot be read as JSON: ${error.message}.`);
  }
}

/** Reads in pieces, so that a pipe works too, and an endless one does no harm. */
async function bytesOf(file: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of createReadStream(file) as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > PRICE_FILE_BYTES_MAX) break;
      pieces.push(piece);
    }
  } catch (error) {
    throw new StartError(`${file} cannot be read: ${(error as Error).message}.`);
  }
  if (size > PRICE_FILE_BYTES_MAX) {
    throw new StartError(`${file} has more than ${PRICE_FILE_BYTES_MAX / 1_048_576} MiB.`);
  }
  return Buffer.concat(pieces);
}

function utf8Of(bytes: Buffer, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new StartError(`${file} is not UTF-8 text.`);
  }
}
