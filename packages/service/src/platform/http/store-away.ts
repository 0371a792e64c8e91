const NETWORK_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
]);

/** PostgreSQL: connection exceptions (class 08), too many connections, and a server that stops or starts. */
const AWAY_SQL_STATES = /^(?:08...|53300|57P0[123])$/;

/** Messages of drivers that carry no code: `pg` when its pool or its connection gives up. */
const AWAY_MESSAGES =
  /^(?:timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error)/;

/** Whether the error says that a store could not be reached, rather than that it refused the statement. */
export function isStoreAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code !== undefined) {
    // A missing file is not a store that is away; a missing socket is.
    if (NETWORK_CODES.has(code)) return code !== 'ENOENT' || syscall === 'connect';
    if (AWAY_SQL_STATES.test(code)) return true;
  }
  return AWAY_MESSAGES.test(error.message) || (error.cause !== undefined && isStoreAway(error.cause));
}
