import type { App } from './types.js';

/** Deadline of requests in progress. The rest of the time of a whole shutdown is for the stores. */
export const CLOSE_DEADLINE_MS = 5_000;
/** Interval at which connections are ended that have become idle. */
const IDLE_POLL_MS = 50;

/** Stops listening, lets requests in progress finish, and closes all open connections after the deadline. */
export async function closeGracefully(app: App, deadlineMs: number = CLOSE_DEADLINE_MS): Promise<void> {
  const timer = setTimeout(() => app.cutConnections(), deadlineMs);
  // Node ends idle connections once. One that has a response in progress becomes idle after it.
  const poll = setInterval(() => app.server.closeIdleConnections(), IDLE_POLL_MS);
  try {
    await app.close();
  } finally {
    clearTimeout(timer);
    clearInterval(poll);
  }
}
