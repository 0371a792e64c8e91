import { ConfigError } from '../config.js';
import { DomainError } from '../kernel/errors.js';
import { ArchiveDamagedError } from '../modules/archive/index.js';
import { BackupError } from '../platform/backup/index.js';
import { ClickHouseUnavailableError, isClickHouseUnavailable } from '../platform/clickhouse/index.js';
import { InstanceLockedError } from '../platform/instance-lock.js';
import { MigrationError } from '../platform/migration-files.js';
import { isUnavailable, PostgresUnavailableError } from '../platform/postgres/index.js';
import { StartError } from './start-error.js';

/** Errors whose message alone says all that an operator needs, in one sentence. */
const OPERATOR_ERRORS = [
  StartError,
  DomainError,
  ArchiveDamagedError,
  ConfigError,
  BackupError,
  InstanceLockedError,
  MigrationError,
  PostgresUnavailableError,
  ClickHouseUnavailableError,
];

/** Returns the sentence for the operator of a command that has failed; undefined if only a stack explains the error. */
export function operatorSentence(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (OPERATOR_ERRORS.some((type) => error instanceof type)) return error.message;
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && code.startsWith('ERR_PARSE_ARGS')) return error.message;
  if (!isUnavailable(error) && !isClickHouseUnavailable(error)) return undefined;
  return `The connection to a store was lost (${error.message}). Run the command again when it is available.`;
}
