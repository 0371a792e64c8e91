import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RowBinaryWriter } from '../usage/index.js';
import { EventBody, type EventGroup } from './event.js';
import { BatchSections } from './sections.js';

function groupOf(projectNo: number): EventGroup {
  return {
    tenantId: 'ten_1',
    projectId: `prj_${projectNo}`,
    projectNo,
    storage: projectNo === 0 ? 'shared' : 'dedicated',
    receivedAtMs: 0,
    attempt: 0,
    ids: Buffer.alloc(0),
    body: new EventBody(Buffer.alloc(0), 'single', 1, null),
    events: [],
  };
}

/** Of one row: project 0 shares, the others do not. */
const rows = fc.array(
  fc.record({
    projectNo: fc.integer({ min: 0, max: 3 }),
    text: fc.string({ maxLength: 20 }),
    itemCount: fc.nat(3),
  }),
  { maxLength: 40 },
);

describe('BatchSections', () => {
  it('brings every row to its section, in its order, and counts it there', () => {
    fc.assert(
      fc.property(rows, (encoded) => {
        const writer = new RowBinaryWriter();
        const expected = new Map<number, { bytes: RowBinaryWriter; eventCount: number; itemCount: number }>();
        const sections = new BatchSections();
        for (const { projectNo, text, itemCount } of encoded) {
          const section = expected.get(projectNo) ?? {
            bytes: new RowBinaryWriter(64),
            eventCount: 0,
            itemCount: 0,
          };
          expected.set(projectNo, section);
          section.bytes.string(text);
          section.eventCount++;
          section.itemCount += itemCount;
          const start = writer.length;
          writer.string(text);
          if (projectNo > 0) sections.addOwn(groupOf(projectNo), start, writer.length, itemCount);
        }
        const totals = {
          itemCount: encoded.reduce((sum, { itemCount }) => sum + itemCount, 0),
          projects: () => [...expected.keys()].map((no) => ({ projectId: `prj_${no}`, touched: [] })),
        };
        const found = sections.of(writer, encoded.length, totals).map((section) => ({
          ...section,
          rows: section.rows.toString('hex'),
        }));
        expect(new Map(found.map((section) => [section.dedicatedTo ?? 0, section]))).toEqual(
          new Map(
            [...expected].map(([no, { bytes, eventCount, itemCount }]) => [
              no,
              {
                dedicatedTo: no === 0 ? null : no,
                eventCount,
                itemCount,
                projects: [{ projectId: `prj_${no}`, touched: [] }],
                rows: bytes.bytes().toString('hex'),
              },
            ]),
          ),
        );
        expect(found).toHaveLength(expected.size);
      }),
    );
  });

  it('copies nothing of a batch that goes to the shared tables alone', () => {
    const writer = new RowBinaryWriter();
    writer.string('a row');
    const [section] = new BatchSections().of(writer, 1, { itemCount: 0, projects: () => [] });
    expect(section?.rows.buffer).toBe(writer.bytes().buffer);
  });
});
