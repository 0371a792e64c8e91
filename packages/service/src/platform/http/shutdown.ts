import type { App } from './types.js';

/** In-flight requests get this long to finish: half of the time that a whole shutdown may take. */
const CLOSE_DEADLINE_MS = 5_000;

/** Stops listening, lets requests in flight finish, and cuts what is still open after the deadline. */
export async function closeGracefully(app: App, deadlineMs: number = CLOSE_DEADLINE_MS): Promise<void> {
  const timer = setTimeout(() => app.cutConnections(), deadlineMs);
  try {
    await app.close();
  } finally {
    clearTimeout(timer);
  }
}
