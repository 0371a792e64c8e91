import { fileURLToPath } from 'node:url';
import { type TlsPaths, takeTlsPaths } from '../tls-files.js';

/** Connections of one opened store to a bucket; further requests wait for one of them. */
export const S3_SOCKETS_MAX = 32;

/** Where an object store is, and the minimum size of the segments that go there. It contains no secret. */
export type ObjectStoreLocation =
  | { readonly kind: 'folder'; readonly folder: string; readonly segmentBytesMin: number }
  | {
      readonly kind: 's3';
      readonly bucket: string;
      /** Prefix of every key; empty, or ends with a slash. */
      readonly prefix: string;
      /** Undefined for AWS. */
      readonly endpoint: string | undefined;
      /** Undefined if the environment of the process sets it. */
      readonly region: string | undefined;
      /** Whether the bucket is part of the path, and not of the host name. */
      readonly pathStyle: boolean;
      /** The files for the connections to the endpoint. */
      readonly tls: TlsPaths | undefined;
      readonly segmentBytesMin: number;
    };

const FORMS =
  'file:///shared/folder or s3://bucket/prefix, followed by a question mark and the parameters endpoint=, region=, path_style=1, segment_kib=, sslrootcert=, sslcert= and sslkey= if they are needed';
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^([A-Za-z0-9_.-]+\/){0,10}$/;
const REGION = /^[a-z0-9-]{1,40}$/;
const SEGMENT_KIB = 'segment_kib';
const PARAMETERS = ['endpoint', 'region', 'path_style', SEGMENT_KIB, 'sslrootcert', 'sslcert', 'sslkey'];
/** From this size, a segment costs PostgreSQL less as a row with a synced file. */
const FOLDER_SEGMENT_KIB = 8;
/** A put to a bucket costs money and some tens of milliseconds, too much for a few events. */
const BUCKET_SEGMENT_KIB = 64;
const SEGMENT_KIB_MAX = 8_192;

/** Reads the URL of an object store. @throws Error whose message ends the sentence "… must be …" */
export function readObjectStoreUrl(text: string): ObjectStoreLocation {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'file:' && url.protocol !== 's3:')) throw new Error(FORMS);
  if (url.username !== '' || url.password !== '') {
    throw new Error(`${FORMS}; credentials belong in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`);
  }
  return url.protocol === 'file:' ? folderOf(url) : bucketOf(url);
}

/** Describes a location for people. */
export function describeObjectStore(location: ObjectStoreLocation): string {
  if (location.kind === 'folder') return location.folder;
  const { bucket, prefix, endpoint } = location;
  return `s3://${bucket}/${prefix}${endpoint === undefined ? '' : ` at ${endpoint}`}`;
}

function folderOf(url: URL): ObjectStoreLocation {
  const isPlain = url.host === '' && url.hash === '';
  if (!isPlain || url.pathname === '/') {
    throw new Error('file:/// and the absolute path of a folder that all machines share');
  }
  checkParameters(url, 'a file:// URL', [SEGMENT_KIB]);
  const segmentBytesMin = segmentBytesOf(url.searchParams, FOLDER_SEGMENT_KIB);
  return { kind: 'folder', folder: fileURLToPath(url), segmentBytesMin };
}

function bucketOf(url: URL): ObjectStoreLocation {
  const { hostname: bucket, pathname, searchParams, hash } = url;
  checkParameters(url, 'an s3:// URL', PARAMETERS);
  const path = pathname.replace(/^\/+|\/+$/g, '');
  const prefix = path === '' ? '' : `${path}/`;
  if (!BUCKET.test(bucket) || url.port !== '' || hash !== '') {
    throw new Error('s3:// and the name of a bucket: 3 to 63 characters of a-z, 0-9, hyphen and dot');
  }
  if (!PREFIX.test(prefix) || prefix.length > 200) {
    throw new Error(
      'an s3:// URL with a prefix of up to 10 parts and 200 characters: A-Z, a-z, 0-9, underscore, hyphen and dot',
    );
  }
  return {
    kind: 's3',
    bucket,
    prefix,
    endpoint: endpointOf(searchParams.get('endpoint')),
    region: regionOf(searchParams.get('region')),
    pathStyle: flagOf(searchParams.get('path_style')),
    tls: takeTlsPaths(url.href).paths,
    segmentBytesMin: segmentBytesOf(searchParams, BUCKET_SEGMENT_KIB),
  };
}

function checkParameters({ searchParams }: URL, what: string, known: readonly string[]): void {
  const names = [...searchParams.keys()];
  if (names.some((name) => !known.includes(name))) {
    throw new Error(`${what} with no other parameters than ${known.join(', ')}`);
  }
  if (new Set(names).size !== names.length) throw new Error(`${what} with each parameter once`);
}

function segmentBytesOf(parameters: URLSearchParams, defaultKib: number): number {
  const text = parameters.get(SEGMENT_KIB) ?? String(defaultKib);
  if (!/^\d{1,4}$/.test(text) || Number(text) > SEGMENT_KIB_MAX) {
    throw new Error(`a URL whose ${SEGMENT_KIB} is a whole number from 0 to ${SEGMENT_KIB_MAX}`);
  }
  return Number(text) * 1_024;
}

function endpointOf(text: string | null): string | undefined {
  if (text === null) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (url === undefined || !/^https?:$/.test(url.protocol) || !isPlain) {
    throw new Error('an s3:// URL whose endpoint is an http:// or https:// URL without credentials');
  }
  return text;
}

function regionOf(text: string | null): string | undefined {
  if (text === null || REGION.test(text)) return text ?? undefined;
  throw new Error('an s3:// URL whose region is 1 to 40 characters of a-z, 0-9 and hyphen');
}

function flagOf(text: string | null): boolean {
  if (text === null || text === '0' || text === '1') return text === '1';
  throw new Error('an s3:// URL whose path_style is 0 or 1');
}
