import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import type { Buffers } from '../buffers.js';
import { TlsAgent } from '../tls-agent.js';
import { TlsFiles } from '../tls-files.js';
import { resultWithin } from '../wait.js';
import { type ObjectStoreLocation, S3_SOCKETS_MAX } from './location.js';
import {
  type ByteRange,
  checkObjectKey,
  isObjectKey,
  OBJECT_OPERATION_MS_MAX,
  OBJECT_PAGE_KEYS,
  type ObjectPage,
  type ObjectSelection,
  type ObjectStore,
  ObjectStoreError,
} from './port.js';

const CONNECT_MS_MAX = 2_000;
/** Upper bound of one attempt, from the request to the end of the response. */
const ATTEMPT_MS_MAX = 10_000;
const ATTEMPTS_MAX = 3;
/** Upper bound of the objects that are deleted at the same time. */
const DELETES_AT_ONCE = 16;
/** The region in signatures for stores that have no regions. */
const REGION_OF_ENDPOINTS = 'us-east-1';

/** Keeps objects in a bucket, of AWS or of another store with the S3 protocol. */
export class S3ObjectStore implements ObjectStore {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;

  constructor({
    bucket,
    prefix,
    endpoint,
    region,
    pathStyle,
    tls,
  }: Extract<ObjectStoreLocation, { kind: 's3' }>) {
    const known = region ?? (endpoint === undefined ? undefined : REGION_OF_ENDPOINTS);
    const agent = { keepAlive: true, maxSockets: S3_SOCKETS_MAX };
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#client = new S3Client({
      ...(known !== undefined && { region: known }),
      ...(endpoint !== undefined && { endpoint }),
      forcePathStyle: pathStyle,
      maxAttempts: ATTEMPTS_MAX,
      // The signature contains a hash of the bytes, and their checksum is compared when they are read. Not every store
      // knows the trailing checksums that the client would add.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: CONNECT_MS_MAX,
        requestTimeout: ATTEMPT_MS_MAX,
        throwOnRequestTimeout: true,
        socketTimeout: ATTEMPT_MS_MAX,
        httpAgent: agent,
        httpsAgent: tls === undefined ? agent : new TlsAgent(new TlsFiles(tls), agent),
      },
    });
  }

  async put(key: string, pieces: Buffers): Promise<void> {
    const Body = Buffer.concat(pieces);
    await timed(`put ${key}`, (options) =>
      this.#client.send(new PutObjectCommand({ ...this.#place(key), Body }), options),
    );
  }

  get(key: string, range?: ByteRange): Promise<Buffer | undefined> {
    const Range = range && `bytes=${range.offset}-${range.offset + range.byteCount - 1}`;
    return timed(`get ${key}`, async (options) => {
      try {
        const { Body } = await this.#client.send(
          new GetObjectCommand({ ...this.#place(key), Range }),
          options,
        );
        return Buffer.from((await Body?.transformToByteArray()) ?? []);
      } catch (error) {
        if (isNamed(error, 'NoSuchKey')) return undefined;
        if (isNamed(error, 'InvalidRange')) return Buffer.of();
        throw error;
      }
    });
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (let start = 0; start < keys.length; start += DELETES_AT_ONCE) {
      await Promise.all(keys.slice(start, start + DELETES_AT_ONCE).map((key) => this.#deleteOne(key)));
    }
  }

  list({ folder, beforeMs, after }: ObjectSelection): Promise<ObjectPage> {
    return timed(`list ${folder}`, async (options) => {
      const { Contents = [], IsTruncated } = await this.#client.send(
        new ListObjectsV2Command({
          Bucket: this.#bucket,
          Prefix: `${this.#prefix}${folder}/`,
          MaxKeys: OBJECT_PAGE_KEYS,
          ...(after !== undefined && { StartAfter: this.#prefix + after }),
        }),
        options,
      );
      const all = Contents.map(({ Key = '', LastModified }) => ({
        key: Key.slice(this.#prefix.length),
        // An object without a time does not count as old.
        changedMs: LastModified?.getTime() ?? Number.POSITIVE_INFINITY,
      }));
      const keys = all.filter(({ key, changedMs }) => isObjectKey(key) && changedMs < beforeMs);
      return { keys: keys.map(({ key }) => key), next: IsTruncated === true ? all.at(-1)?.key : undefined };
    });
  }

  async close(): Promise<void> {
    this.#client.destroy();
  }

  async #deleteOne(key: string): Promise<void> {
    await timed(`delete ${key}`, (options) =>
      this.#client.send(new DeleteObjectCommand(this.#place(key)), options),
    );
  }

  #place(key: string): { Bucket: string; Key: string } {
    checkObjectKey(key);
    return { Bucket: this.#bucket, Key: this.#prefix + key };
  }
}

/** Bounds an operation, including its retries and pauses. */
async function timed<T>(
  operation: string,
  work: (options: { abortSignal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const abort = new AbortController();
  try {
    return await resultWithin(work({ abortSignal: abort.signal }), OBJECT_OPERATION_MS_MAX, () => {
      const late = new Error(`no response within ${OBJECT_OPERATION_MS_MAX} ms`);
      abort.abort(late);
      return late;
    });
  } catch (error) {
    throw new ObjectStoreError(operation, error);
  }
}

function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name;
}
