/**
 * Server-sent events, as the HTML standard writes them. JSON text contains no line break, so an event's data is one
 * line.
 */

/** Returns an event. A client sends its `id` back as `Last-Event-ID` after its connection broke. */
export function eventFrame(name: string, data: string, id?: number): string {
  return `event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;
}

/** Returns a comment that keeps the connection alive without an event; the client still remembers its position. */
export function heartbeatFrame(id: number): string {
  return `: alive\nid: ${id}\n\n`;
}

/** Returns the position that a client sends; undefined for text that is not a position. */
export function parsePosition(lastEventId: string): number | undefined {
  return /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : undefined;
}
