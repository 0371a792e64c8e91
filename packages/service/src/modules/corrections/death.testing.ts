import type { KyselyPlugin } from 'kysely';
import type { Postgres } from '../../platform/postgres/index.js';

/** A process dies at a statement: that one and all later ones fail. */
export interface Death {
  /** The number of the statement, from 1. */
  readonly statement: number;
  /** Whether the database has executed the statement before the process dies. */
  readonly isExecuted: boolean;
}

/** The error of a process that is dead. */
export class KilledError extends Error {
  override readonly name = 'KilledError';
}

/** Returns a connection that a dying process uses, and whether it has died. */
export function dyingPostgres(
  postgres: Postgres,
  { statement, isExecuted }: Death,
): { readonly postgres: Postgres; readonly isDead: () => boolean } {
  let statements = 0;
  let isDead = false;
  const dieIf = (isTime: boolean) => {
    if (isTime) isDead = true;
    if (isDead) throw new KilledError(`killed at statement ${statement}`);
  };
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => {
      statements++;
      dieIf(statements === statement && !isExecuted);
      return node;
    },
    transformResult: async ({ result }) => {
      dieIf(statements >= statement && isExecuted);
      return result;
    },
  };
  return { postgres: { ...postgres, db: postgres.db.withPlugin(plugin) }, isDead: () => isDead };
}

/** Returns a connection of a process that hangs after its first statement until `meanwhile` has ended. */
export function hangingPostgres(postgres: Postgres, meanwhile: () => Promise<void>): Postgres {
  let statements = 0;
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (++statements === 1) await meanwhile();
      return result;
    },
  };
  return { ...postgres, db: postgres.db.withPlugin(plugin) };
}
