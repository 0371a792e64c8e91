import { describe, expect, it } from 'vitest';
import { batchRecord, idHexOf, reprocessRecord, type TestProject, testEvent } from '../../testing/index.js';
import { readIntake } from './batch-input.js';

const A: TestProject = { tenantId: 'ten_a', projectId: 'prj_a', projectNo: 1, storage: 'shared' };
const B: TestProject = { tenantId: 'ten_a', projectId: 'prj_b', projectNo: 2, storage: 'shared' };

function intakeOf(...records: Parameters<typeof readIntake>[0][number]['records']) {
  return readIntake([{ id: 1, receivedAtMs: 0, eventCount: 0, records }]);
}

describe('readIntake', () => {
  it('lists each event once, where it stands in its body', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((key) => testEvent(key));
    if (!a || !b || !c) throw new Error('unreachable');
    const intake = intakeOf(batchRecord(A, [a, b, a]), batchRecord(A, [b, c], { receivedAtMs: 5 }));
    expect(intake.groups.map(({ events }) => events)).toEqual([
      [
        { projectNo: 1, idHex: idHexOf(A, a), index: 0 },
        { projectNo: 1, idHex: idHexOf(A, b), index: 1 },
      ],
      [{ projectNo: 1, idHex: idHexOf(A, c), index: 1 }],
    ]);
    expect(intake).toMatchObject({ claimed: 5, oldestReceivedAtMs: 5 });
    expect(intake.repeated.map(({ projectId }) => projectId)).toEqual(['prj_a', 'prj_a']);
  });

  it('keeps the same id of two projects apart, and an event apart from its reprocessing', () => {
    const event = testEvent('a');
    const record = batchRecord(A, [event]);
    const id = idHexOf(A, event);
    const intake = intakeOf(
      record,
      { ...record, scope: { ...record.scope, ...B } },
      reprocessRecord(A, [id, id]),
      reprocessRecord(B, [id]),
    );
    expect(intake.repeated).toEqual([]);
    expect(intake.reprocess).toEqual([
      { ...A, idHex: id },
      { ...B, idHex: id },
    ]);
    expect(intake).toMatchObject({ claimed: 5, repeatedReprocess: 1 });
  });
});
