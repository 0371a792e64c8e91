import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const compressors = {
  br: promisify((bytes: Buffer, done: (error: Error | null, result: Buffer) => void) =>
    brotliCompress(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }, done),
  ),
  gzip: promisify(gzip),
} as const;
export type Encoding = keyof typeof compressors;
const ENCODINGS: readonly Encoding[] = ['br', 'gzip'];

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
};
const COMPRESSIBLE = /^(text\/|image\/svg)/;

/** A file of the built console. */
export class Asset {
  readonly #encoded = new Map<Encoding, Promise<Buffer>>();

  constructor(
    readonly type: string,
    readonly bytes: Buffer,
  ) {}

  /**
   * Returns the file in the first supported encoding that the client accepts; each encoding is computed once, when it
   * is first needed.
   */
  async encoded(accepted = ''): Promise<{ bytes: Buffer; encoding: Encoding | undefined }> {
    const encoding = COMPRESSIBLE.test(this.type)
      ? ENCODINGS.find((name) => accepts(accepted, name))
      : undefined;
    if (encoding === undefined) return { bytes: this.bytes, encoding };
    const made = this.#encoded.get(encoding) ?? compressors[encoding](this.bytes);
    this.#encoded.set(encoding, made);
    return { bytes: await made, encoding };
  }
}

/** The built console: its page, and the files that the page loads, by their path below it. */
export interface ConsoleBuild {
  readonly page: string;
  readonly assets: ReadonlyMap<string, Asset>;
}

/**
 * Reads the whole build into memory: it is small, and no request can name any other file. Returns undefined when the
 * console was not built.
 */
export function readConsoleBuild(folder: string): ConsoleBuild | undefined {
  let page: string;
  try {
    page = readFileSync(join(folder, 'index.html'), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const assets = new Map<string, Asset>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const type = TYPES[entry.name.slice(entry.name.lastIndexOf('.') + 1)];
    if (!entry.isFile() || type === undefined || entry.name === 'index.html') continue;
    assets.set(relative(folder, path).split(sep).join('/'), new Asset(type, readFileSync(path)));
  }
  return { page, assets };
}

function accepts(header: string, encoding: Encoding): boolean {
  return header.split(',').some((part) => {
    const [name, ...parameters] = part.split(';').map((text) => text.trim());
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}
