/** Server-sent events, as the HTML standard writes them. JSON holds no line break, so an event's data is one line. */

/** An event. Its `id` is what a client sends back as `Last-Event-ID` after its connection broke. */
export function eventFrame(name: string, data: string, id?: number): string {
  return `event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;
}

/** Shows no event to the client and keeps the connection alive; the position it brings is remembered nevertheless. */
export function heartbeatFrame(id: number): string {
  return `: alive\nid: ${id}\n\n`;
}

/** The position that a client names; undefined for what is none of ours. */
export function parsePosition(lastEventId: string): number | undefined {
  return /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : undefined;
}
