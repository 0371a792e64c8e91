import type { App } from './types.js';

/** Deadline of requests in progress. The rest of the time of a whole shutdown is for the stores. */
export const CLOSE_DEADLINE_MS = 5_000;

/** Stops listening, lets requests in progress finish, and closes all open connections after the deadline. */
export async function closeGracefully(app: App, deadlineMs: number = CLOSE_DEADLINE_MS): Promise<void> {
  const timer = setTimeout(() => app.cutConnections(), deadlineMs);
  try {
    await app.close();
  } finally {
    clearTimeout(timer);
  }
}
