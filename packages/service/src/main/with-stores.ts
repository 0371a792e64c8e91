import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { ErrorBody } from '@tollgate/contract';
import type { Config } from '../config.js';
import { loadServiceKey } from '../modules/tenancy/index.js';
import { InstanceLockedError } from '../platform/instance-lock.js';
import { createLog, type Logger } from '../platform/log/index.js';
import { prepareDataDir } from './data-dir.js';
import { announcedUrl, withInstanceLock } from './instance.js';
import { StartError } from './start-error.js';
import { openStores, type Stores } from './stores.js';

/** A task that a command runs with the stores, and that a running service can run on request. */
export interface StoreTask<T> {
  run(stores: Stores, log: Logger): Promise<T>;
  /** Path and body of the service's route for the same task; its response is the result. */
  readonly path: string;
  readonly body?: object;
}

/** Returns the log of a command that prints a result: only problems, unless the setting asks for other lines. */
export function createCommandLog({ logLevel }: Config): Logger {
  return createLog({ level: logLevel === 'info' ? 'warn' : logLevel });
}

/**
 * Opens the stores for `work`, and closes them afterwards.
 * @throws InstanceLockedError when they are embedded, and a running service has them
 */
export async function withStores<T>(
  config: Config,
  log: Logger,
  work: (stores: Stores) => Promise<T>,
): Promise<T> {
  prepareDataDir(config);
  return withInstanceLock(config, async () => {
    const stores = await openStores(config, {
      log,
      onProgress: (step) => log.info(step),
      onUnexpectedExit: (reason) => log.error(reason),
    });
    try {
      return await work(stores);
    } finally {
      await stores.close();
    }
  });
}

/**
 * Runs a task, and prints only problems. When a service runs on embedded stores, which only one process can open, that
 * service runs it.
 * @throws StartError when that service refuses
 */
export async function doTask<T>(config: Config, task: StoreTask<T>): Promise<T> {
  const log = createCommandLog(config);
  try {
    return await withStores(config, log, (stores) => task.run(stores, log));
  } catch (error) {
    const url = error instanceof InstanceLockedError ? announcedUrl(config.dataDir) : undefined;
    if (url === undefined) throw error;
    return askService(config, url, task);
  }
}

async function askService<T>(config: Config, url: string, { path, body }: StoreTask<T>): Promise<T> {
  const { text: key } = await loadServiceKey(config.dataDir, config.serviceKey);
  const json = body === undefined ? {} : { 'content-type': 'application/json' };
  const headers = { authorization: `Bearer ${key}`, ...json };
  // Not fetch, which gives up after five minutes without a response: a task may take hours.
  const sent = request(url + path, { method: 'POST', headers });
  sent.end(body && JSON.stringify(body));
  const { statusCode, text } = await responseTo(sent);
  const answer = JSON.parse(text) as T | ErrorBody;
  if (statusCode === 200) return answer as T;
  throw new StartError(`The running service answered ${statusCode}: ${(answer as ErrorBody).error}`);
}

/** @throws StartError when the service ends before it has responded */
async function responseTo(sent: ClientRequest): Promise<{ statusCode: number | undefined; text: string }> {
  try {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return { statusCode: response.statusCode, text: await text(response) };
  } catch (error) {
    const reason = (error as Error).message;
    throw new StartError(`The running service did not respond (${reason}). Run the command again.`);
  }
}
