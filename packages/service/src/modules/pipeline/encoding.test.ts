import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { usageItem, usageRow } from '../../testing/index.js';
import { UsageBlock, type UsageEventRow } from '../usage/index.js';
import { BatchSections } from './encoding.js';
import { EventBody, type EventGroup } from './event.js';

function groupOf(projectNo: number): EventGroup {
  return {
    tenantId: 'ten_1',
    projectId: `prj_${projectNo}`,
    projectNo,
    storage: projectNo === 0 ? 'shared' : 'dedicated',
    receivedAtMs: 0,
    attempt: 0,
    corrections: 0,
    correctionId: '',
    ids: Buffer.alloc(0),
    body: new EventBody(Buffer.alloc(0), 'single', 1, null),
    events: [],
  };
}

/** Project 0 uses the shared tables, the others do not. */
const rows = fc.array(
  fc
    .record({
      projectNo: fc.integer({ min: 0, max: 3 }),
      subjectId: fc.string({ maxLength: 20 }),
      itemCount: fc.nat(3),
    })
    .map(({ projectNo, subjectId, itemCount }) => ({
      projectNo,
      row: usageRow({ subjectId, items: Array.from({ length: itemCount }, () => usageItem()) }),
    })),
  { maxLength: 40 },
);

function bytesOf(some: readonly UsageEventRow[]): Buffer {
  const block = new UsageBlock();
  for (const row of some) block.add(row);
  return Buffer.concat(block.bytes());
}

describe('BatchSections', () => {
  it('brings every row to its section, in its order, and counts it there', () => {
    fc.assert(
      fc.property(rows, (all) => {
        const sections = new BatchSections(new UsageBlock());
        const expected = new Map<number, UsageEventRow[]>();
        for (const { projectNo, row } of all) {
          sections.blockOf(groupOf(projectNo)).add(row);
          expected.set(projectNo, [...(expected.get(projectNo) ?? []), row]);
        }
        const projectOf = (no: number) => ({ projectId: `prj_${no}`, changed: [], firstDay: 0, lastDay: 0 });
        const found = sections.all([...expected.keys()].map(projectOf));
        expect(
          new Map(
            found.map(({ rows, ...section }) => [
              section.dedicatedTo ?? 0,
              { ...section, bytes: Buffer.concat(rows) },
            ]),
          ),
        ).toEqual(
          new Map(
            [...expected].map(([no, some]) => [
              no,
              {
                dedicatedTo: no === 0 ? null : no,
                eventCount: some.length,
                itemCount: some.reduce((sum, { items }) => sum + items.length, 0),
                projects: [projectOf(no)],
                bytes: bytesOf(some),
              },
            ]),
          ),
        );
        expect(found).toHaveLength(expected.size);
        // The shared section comes first.
        if (expected.has(0)) expect(found[0]?.dedicatedTo).toBeNull();
      }),
    );
  });

  it('copies nothing of a batch that goes to the shared tables alone', () => {
    const block = new UsageBlock();
    block.add(usageRow({ rawJson: 'x'.repeat(10_000) }));
    const largest = (pieces: readonly Buffer[]) =>
      pieces.reduce((most, piece) => (piece.length > most.length ? piece : most));
    const [section] = new BatchSections(block).all([]);
    expect(largest(section?.rows ?? []).buffer).toBe(largest(block.bytes()).buffer);
  });
});
