import type { Tx } from '../../platform/postgres/index.js';
import { reprocessRecord, type SegmentQueue, type SegmentRecord } from '../../platform/queue/index.js';
import { failedEventBytes } from './batch-store.js';
import type { Intake, ReprocessRequest } from './intake.js';

/**
 * The intake with no more failed events than `bytesMax` holds, and at least one. A request names them by their ids alone, so
 * that a small segment can ask for more than fits into memory: the rest goes back to the queue, for later batches.
 */
export async function deferReprocess(
  tx: Tx,
  queue: Pick<SegmentQueue<Tx>, 'putBack'>,
  intake: Intake,
  bytesMax: number,
): Promise<Intake> {
  const { reprocess, oldestReceivedAtMs } = intake;
  if (reprocess.length === 0) return intake;
  let bytes = 0;
  let count = 0;
  for (const eventBytes of await failedEventBytes(tx, reprocess)) {
    bytes += eventBytes;
    if (count > 0 && bytes > bytesMax) break;
    count++;
  }
  if (count === reprocess.length) return intake;
  const later = reprocess.slice(count);
  await queue.putBack(tx, recordsOf(later, oldestReceivedAtMs));
  return { ...intake, claimed: intake.claimed - later.length, reprocess: reprocess.slice(0, count) };
}

/** One record for each project. */
function recordsOf(requests: readonly ReprocessRequest[], receivedAtMs: number): SegmentRecord[] {
  const byProject = new Map<number, { project: ReprocessRequest; ids: string[] }>();
  for (const request of requests) {
    const known = byProject.get(request.projectNo);
    if (known === undefined) byProject.set(request.projectNo, { project: request, ids: [request.idHex] });
    else known.ids.push(request.idHex);
  }
  return Array.from(byProject.values(), ({ project, ids }) => reprocessRecord(project, ids, receivedAtMs));
}
