#!/usr/bin/env node
import { type Config, readConfig, readRoles, readWorkers } from '../config.js';
import { VERSION } from '../platform/version.js';
import { endsWithin } from '../platform/wait.js';
import { backup } from './backup.js';
import { applyCatalogFile } from './catalog/apply-catalog.js';
import { addCell, drainCell, printCells } from './cell-commands.js';
import { type Invocation, parseCommandLine } from './command-line.js';
import { lost } from './lost.js';
import { migrate } from './migrate.js';
import { operatorSentence } from './operator-error.js';
import { importPrices } from './prices/import-prices.js';
import { readPricesImport } from './prices/options.js';
import { rebuild, repair } from './rebuild.js';
import { restore } from './restore.js';
import { shards } from './shards.js';
import { StopRequested } from './signals.js';
import { StartError } from './start-error.js';
import { moveTenantTo, removeCopy } from './tenant-commands.js';
import { verify } from './verify.js';

const USAGE = `tollgate ${VERSION}: usage metering, rating and limits

  tollgate serve [--roles api,worker,projector]   start the service
      [--workers N]                                 number of rating threads and accepting processes
      [--no-migrate]                                only check that the schema is up to date
  tollgate demo [--reset]                         start the service with a sample tenant and live sample traffic
  tollgate migrate                                migrate both stores to the schema of this version
  tollgate verify                                 compare PostgreSQL and ClickHouse, exit with 1 if they differ
  tollgate repair [--incomplete]                  replace months in which ClickHouse differs, from the archive
  tollgate rebuild [--incomplete]                 rebuild the whole history in ClickHouse from the archive
                                                    (--incomplete: without objects that the archive has lost)
  tollgate lost                                   list events whose objects are lost, exit with 1 if there are any
      [--give-up --reason TEXT]                     give them up: nothing waits for them any more
  tollgate backup PATH                            copy an installation on embedded stores to an empty folder, at any time
  tollgate restore PATH                           restore an installation to an empty data directory
  tollgate shards [N]                             show or change the number of shards (1 to 64) at any time
  tollgate catalog apply FILE                     save every subscription plan that is new or changed
  tollgate cell add NAME --url URL                add a cell to the directory, or change it and end its draining
      [--number 0-127] [--capacity EVENTS_PER_S]    its number, and the load that it can carry (default: 50000)
  tollgate cell list                              print the cells with their tenants and load
  tollgate cell drain NAME                        let a cell take no new tenants, and list its tenants
  tollgate tenant move TENANT CELL                move a tenant to another cell, or continue its move
  tollgate tenant move TENANT --abort             cancel a move that is not complete
  tollgate tenant remove-copy TENANT [--now]      delete the old copy, 24 hours after a move (--now: at once)
  tollgate prices import FILE                     turn a table of model prices into pricing rule sets
      --project ID --extractor-rule-set ID          create pricing rule sets for this extractor rule set
      --project ID --update ID                      or update this pricing rule set
      [--models GLOB,...] [--provider NAME,...]     import only these models
      [--purpose price|cost]                        import them as prices (default) or as costs
      [--name TEXT] [--currency CODE] [--effective-from UNIX_SECONDS]
      [--prompt-tokens-dimension NAME]              dimension with the size of the prompt (default: prompt_size)
      [--publish | --dry-run]                       publish the rules, or print them and send nothing
      [--url URL] [--api-key KEY]                   URL of the service, and a key with rules:write
  tollgate --version | --help

Settings are environment variables; docs/configuration.md lists them.`;

function configured({ values }: Invocation): Config {
  const { roles, workers } = values;
  const config = readConfig();
  return {
    ...config,
    roles: option('roles', roles, readRoles) ?? config.roles,
    workers: option('workers', workers, readWorkers) ?? config.workers,
    migrate: values['no-migrate'] === true ? false : config.migrate,
  };
}

function option<T>(name: string, text: string | undefined, read: (text: string) => T): T | undefined {
  if (text === undefined) return undefined;
  try {
    return read(text);
  } catch (error) {
    throw new StartError(`--${name} must be ${(error as Error).message}.`);
  }
}

async function run(args: readonly string[]): Promise<number> {
  const invocation = parseCommandLine(args);
  if (invocation === 'help') return print(USAGE);
  if (invocation === 'version') return print(VERSION);
  const config = configured(invocation);
  switch (invocation.command) {
    case 'serve':
      return (await import('./serve.js')).serve(config);
    case 'demo':
      return (await import('./demo/demo.js')).demo(config, { reset: invocation.values.reset ?? false });
    case 'migrate':
      return migrate(config);
    case 'verify':
      return verify(config);
    case 'repair':
      return repair(config, { incomplete: invocation.values.incomplete ?? false });
    case 'rebuild':
      return rebuild(config, { incomplete: invocation.values.incomplete ?? false });
    case 'lost':
      return lost(config, invocation.values);
    case 'backup':
      return backup(config, invocation.argument);
    case 'restore':
      return restore(config, invocation.argument);
    case 'shards':
      return shards(config, invocation.argument);
    case 'catalog apply':
      return applyCatalogFile(config, invocation.argument);
    case 'cell add':
      return addCell(config, invocation.argument, invocation.values);
    case 'cell list':
      return printCells(config);
    case 'cell drain':
      return drainCell(config, invocation.argument);
    case 'tenant move':
      return moveTenantTo(config, invocation.argument, invocation.second, invocation.values.abort);
    case 'tenant remove-copy':
      return removeCopy(config, invocation.argument, invocation.values.now);
    case 'prices import':
      return importPrices(readPricesImport(invocation.argument, invocation.values, config));
  }
}

function print(text: string): number {
  console.log(text);
  return 0;
}

/** How long the process waits at its end for its output to be read. */
const PRINT_MS_MAX = 2_000;

/** Ends the process: the embedded stores keep handles of their own that must not delay it. */
async function exit(code: number): Promise<never> {
  // A pipe takes 64 KiB at once; output that is still unwritten would be lost.
  const written = (stream: NodeJS.WriteStream) => new Promise((resolve) => stream.write('', resolve));
  await endsWithin(Promise.all([process.stdout, process.stderr].map(written)), PRINT_MS_MAX);
  process.exit(code);
}

try {
  await exit(await run(process.argv.slice(2)));
} catch (error) {
  if (error instanceof StopRequested) await exit(print(`tollgate: ${error.message}`));
  const sentence = operatorSentence(error);
  console.error(sentence === undefined ? error : `tollgate: ${sentence}`);
  await exit(1);
}
