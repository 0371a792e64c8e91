import { describe, expect, it } from 'vitest';
import { EventReader, messagesOf } from './event-stream.js';

const TEXT =
  'event: ready\nid: 7\ndata: {}\n\n: alive\nid: 8\n\nevent: buckets\ndata: {"a": "b: c"}\n\nevent: half\nda';
const EVENTS = [
  { name: 'ready', data: '{}', id: '7' },
  { name: '', data: '', id: '8' },
  { name: 'buckets', data: '{"a": "b: c"}', id: '8' },
];

describe('a stream of events', () => {
  it('is read in one piece, but for an event that is not complete', () => {
    const reader = new EventReader();
    expect(reader.take(TEXT)).toEqual(EVENTS);
    expect(reader.take('ta: 1\n\n')).toEqual([{ name: 'half', data: '1', id: '8' }]);
  });

  it('is read in pieces of any size, and remembers the position of a heartbeat too', () => {
    const reader = new EventReader();
    expect([...TEXT].flatMap((piece) => reader.take(piece))).toEqual(EVENTS);
  });

  it('becomes messages, also where a character is cut in two, without events that nobody knows', async () => {
    const text = `${TEXT}ta: 1\n\nevent: reset\ndata: {"query": "ä"}\n\n`;
    async function* bytes() {
      for (const byte of new TextEncoder().encode(text)) yield Uint8Array.of(byte);
    }
    const messages = [];
    for await (const message of messagesOf(bytes())) messages.push(message);
    expect(messages).toEqual([
      { type: 'ready', position: '7' },
      { type: 'alive', position: '8' },
      { type: 'buckets', data: { a: 'b: c' }, position: '8' },
      { type: 'reset', data: { query: 'ä' }, position: '8' },
    ]);
  });
});
