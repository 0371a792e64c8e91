import type { VerifyReport } from '@tollgate/contract';
import type { Config } from '../config.js';
import { loadServiceKey } from '../modules/tenancy/index.js';
import { verifyUsage } from '../modules/verify/index.js';
import { InstanceLockedError } from '../platform/instance-lock.js';
import { createLog } from '../platform/log/index.js';
import { prepareDataDir } from './data-dir.js';
import { announcedUrl, withInstanceLock } from './instance.js';
import { exitOnSignal } from './signals.js';
import { StartError } from './start-error.js';
import { openStores } from './stores.js';
import { describeReport } from './verify-report.js';

/**
 * `tollgate verify`: recounts both stores against each other. Beside a running service on embedded stores, which belong to
 * one process, that service does the counting. Answers 1 unless everything is equal.
 */
export async function verify(config: Config): Promise<number> {
  exitOnSignal();
  const report = await verifyHere(config).catch((error) => {
    if (error instanceof InstanceLockedError) return verifyThere(config, error);
    throw error;
  });
  console.log(describeReport(report));
  return report.status === 'equal' ? 0 : 1;
}

async function verifyHere(config: Config): Promise<VerifyReport> {
  const log = createLog({ level: config.logLevel === 'info' ? 'warn' : config.logLevel });
  prepareDataDir(config.dataDir);
  return withInstanceLock(config, async () => {
    const onUnexpectedExit = (reason: string) => log.error(reason);
    const stores = await openStores(config, { log, onProgress: () => {}, onUnexpectedExit });
    try {
      return await verifyUsage({ postgres: stores.postgres, clickhouse: stores.clickhouse, log });
    } finally {
      await stores.close();
    }
  });
}

async function verifyThere(config: Config, locked: InstanceLockedError): Promise<VerifyReport> {
  const url = announcedUrl(config.dataDir);
  if (url === undefined) throw locked;
  const { text: key } = await loadServiceKey(config.dataDir, config.serviceKey);
  const response = await fetch(`${url}/admin/v1/verify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
  });
  if (!response.ok) {
    throw new StartError(`The running service answered ${response.status}: ${await response.text()}`);
  }
  return (await response.json()) as VerifyReport;
}
