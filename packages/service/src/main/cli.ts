#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { type Config, ConfigError, readConfig, readRoles } from '../config.js';
import { ClickHouseUnavailableError } from '../platform/clickhouse/index.js';
import { InstanceLockedError } from '../platform/instance-lock.js';
import { MigrationError } from '../platform/migration-files.js';
import { PostgresUnavailableError } from '../platform/postgres/index.js';
import { demo } from './demo/demo.js';
import { migrate } from './migrate.js';
import { serve } from './serve.js';
import { StopRequested } from './signals.js';
import { StartError } from './start-error.js';
import { verify } from './verify.js';
import { VERSION } from './version.js';

const USAGE = `tollgate ${VERSION}: meter usage, rate it, control its limits

  tollgate serve [--roles api,worker,projector]   run the service
  tollgate demo [--reset]                         run it with a sample tenant and live sample traffic
  tollgate migrate                                bring both stores to this version's schema
  tollgate verify                                 recount PostgreSQL and ClickHouse against each other
  tollgate --version | --help

Settings are environment variables; docs/configuration.md lists them.`;

/** What the command line asks for; options that a command does not take are refused. */
interface Invocation {
  readonly command: string;
  readonly roles: string | undefined;
  readonly reset: boolean;
}

const OPTIONS_OF: Readonly<Record<string, readonly string[]>> = {
  serve: ['roles'],
  demo: ['reset'],
  migrate: [],
  verify: [],
};

function parse(args: readonly string[]): Invocation | 'help' | 'version' {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      roles: { type: 'string' },
      reset: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean', short: 'v' },
    },
  });
  if (values.help) return 'help';
  if (values.version) return 'version';
  const [command, ...rest] = positionals;
  if (command === undefined) return 'help';
  const allowed = OPTIONS_OF[command];
  if (allowed === undefined) throw new StartError(`There is no command "${command}"; see tollgate --help.`);
  if (rest.length > 0) throw new StartError(`tollgate ${command} takes no argument "${rest[0]}".`);
  const foreign = Object.keys(values).find((name) => !allowed.includes(name));
  if (foreign !== undefined) throw new StartError(`tollgate ${command} has no option --${foreign}.`);
  return { command, roles: values.roles, reset: values.reset ?? false };
}

function configured({ roles }: Invocation): Config {
  const config = readConfig();
  if (roles === undefined) return config;
  try {
    return { ...config, roles: readRoles(roles) };
  } catch (error) {
    throw new StartError(`--roles must be ${(error as Error).message}.`);
  }
}

async function run(args: readonly string[]): Promise<number> {
  const invocation = parse(args);
  if (invocation === 'help') return print(USAGE);
  if (invocation === 'version') return print(VERSION);
  const config = configured(invocation);
  switch (invocation.command) {
    case 'serve':
      return serve(config);
    case 'demo':
      return demo(config, { reset: invocation.reset });
    case 'migrate':
      return migrate(config);
    default:
      return verify(config);
  }
}

function print(text: string): number {
  console.log(text);
  return 0;
}

const OPERATOR_ERRORS = [
  StartError,
  ConfigError,
  InstanceLockedError,
  MigrationError,
  PostgresUnavailableError,
  ClickHouseUnavailableError,
];

/** Whether the message alone says all that an operator needs: one sentence, no stack. */
function isOperatorError(error: unknown): error is Error {
  if (OPERATOR_ERRORS.some((type) => error instanceof type)) return true;
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' && code.startsWith('ERR_PARSE_ARGS');
}

try {
  // An explicit end: the embedded stores keep handles of their own that must not hold up the process.
  process.exit(await run(process.argv.slice(2)));
} catch (error) {
  if (error instanceof StopRequested) process.exit(print(`tollgate: ${error.message}`));
  console.error(isOperatorError(error) ? `tollgate: ${error.message}` : error);
  process.exit(1);
}
