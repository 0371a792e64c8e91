import { describe, expect, it } from 'vitest';
import { EventReader } from './event-stream.js';

const TEXT =
  'event: ready\nid: 7\ndata: {}\n\n: alive\nid: 8\n\nevent: buckets\ndata: {"a": "b: c"}\n\nevent: half\nda';
const EVENTS = [
  { name: 'ready', data: '{}' },
  { name: 'buckets', data: '{"a": "b: c"}' },
];

describe('a stream of events', () => {
  it('is read in one piece, but for an event that is not complete', () => {
    const reader = new EventReader();
    expect(reader.take(TEXT)).toEqual(EVENTS);
    expect(reader.take('ta: 1\n\n')).toEqual([{ name: 'half', data: '1' }]);
  });

  it('is read in pieces of any size, and remembers the position of a heartbeat too', () => {
    const reader = new EventReader();
    expect([...TEXT].flatMap((piece) => reader.take(piece))).toEqual(EVENTS);
    expect(reader.lastId).toBe('8');
  });
});
