import { describe, expect, it } from 'vitest';
import { batchRecord, idHexOf, reprocessRecord, type TestProject, testEvent } from '../../testing/index.js';
import { readBatchInput } from './batch-input.js';

const A: TestProject = { tenantId: 'ten_a', projectId: 'prj_a', projectNo: 1, storage: 'shared' };
const B: TestProject = { tenantId: 'ten_a', projectId: 'prj_b', projectNo: 2, storage: 'shared' };

function batchInputOf(...records: Parameters<typeof readBatchInput>[0][number]['records']) {
  return readBatchInput([{ id: 1, shard: 0, receivedAtMs: 0, eventCount: 0, records }]);
}

describe('readBatchInput', () => {
  it('lists each event once, where it stands in its body', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((key) => testEvent(key));
    if (!a || !b || !c) throw new Error('unreachable');
    const batchInput = batchInputOf(batchRecord(A, [a, b, a]), batchRecord(A, [b, c], { receivedAtMs: 5 }));
    expect(batchInput.groups.map(({ events }) => events)).toEqual([
      [
        { projectNo: 1, idHex: idHexOf(A, a), index: 0 },
        { projectNo: 1, idHex: idHexOf(A, b), index: 1 },
      ],
      [{ projectNo: 1, idHex: idHexOf(A, c), index: 1 }],
    ]);
    expect(batchInput).toMatchObject({ claimed: 5, oldestReceivedAtMs: 5 });
    expect(batchInput.repeated.map(({ projectId }) => projectId)).toEqual(['prj_a', 'prj_a']);
  });

  it('keeps the same id of two projects apart, and an event apart from its reprocessing', () => {
    const event = testEvent('a');
    const record = batchRecord(A, [event]);
    const id = idHexOf(A, event);
    const batchInput = batchInputOf(
      record,
      { ...record, scope: { ...record.scope, ...B } },
      reprocessRecord(A, [id, id]),
      reprocessRecord(B, [id]),
    );
    expect(batchInput.repeated).toEqual([]);
    expect(batchInput.reprocess).toEqual([
      { ...A, idHex: id },
      { ...B, idHex: id },
    ]);
    expect(batchInput).toMatchObject({ claimed: 5, repeatedReprocess: 1 });
  });
});
