import type { VerifyReport } from '@tollgate/contract';
import type { Config } from '../config.js';
import { verifyUsage } from '../modules/verify/index.js';
import { exitOnSignal } from './signals.js';
import { describeReport } from './verify-report.js';
import { doTask } from './with-stores.js';

/** `tollgate verify`: recounts both stores against each other. Returns 1 unless everything is equal. */
export async function verify(config: Config): Promise<number> {
  exitOnSignal();
  const report = await doTask<VerifyReport>(config, {
    run: ({ postgres, clickhouse }, log) => verifyUsage({ postgres, clickhouse, log }),
    path: '/admin/v1/verify',
  });
  console.log(describeReport(report));
  return report.status === 'equal' ? 0 : 1;
}
