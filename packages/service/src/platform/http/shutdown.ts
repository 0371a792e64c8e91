import type { App } from './types.js';

/** Deadline of requests in progress: half of the time that a whole shutdown may take. */
const CLOSE_DEADLINE_MS = 5_000;

/** Stops listening, lets requests in progress finish, and closes all open connections after the deadline. */
export async function closeGracefully(app: App, deadlineMs: number = CLOSE_DEADLINE_MS): Promise<void> {
  const timer = setTimeout(() => app.cutConnections(), deadlineMs);
  try {
    await app.close();
  } finally {
    clearTimeout(timer);
  }
}
