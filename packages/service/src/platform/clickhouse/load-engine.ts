import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { ClickHouseUnavailableError } from './port.js';

/** The embedded ClickHouse, as far as it is used. */
export interface Engine extends Pick<typeof import('chdb'), 'Session' | 'drainPending'> {
  /** Opens a session, whose statements wait for each other. */
  createSession(path: string): ClickHouseClient;
}

/** The two packages declare the same interface, each with classes of its own. */
type ClientConnection = NonNullable<NonNullable<Parameters<typeof createClient>[0]>['connection']>;

/** @throws ClickHouseUnavailableError where the native library is missing */
export async function loadEngine(): Promise<Engine> {
  try {
    const [{ Session, drainPending }, { createChdbConnection }] = await Promise.all([
      import('chdb'),
      import('chdb/connection'),
    ]);
    const createSession = (path: string) => {
      const connection = createChdbConnection({ path }) as unknown as ClientConnection;
      return createClient({ connection, log: { level: ClickHouseLogLevel.OFF } });
    };
    return { Session, drainPending, createSession };
  } catch (error) {
    const [reason] = (error as Error).message.split('\n');
    throw new ClickHouseUnavailableError(
      `The embedded ClickHouse cannot be loaded (${reason}); install without --omit=optional, or set TOLLGATE_CLICKHOUSE_URL to use a ClickHouse server.`,
      { cause: error },
    );
  }
}
