import { parseArgs } from 'node:util';
import { PRICES_IMPORT_OPTIONS } from './prices/options.js';
import { StartError } from './start-error.js';

const OPTIONS = {
  ...PRICES_IMPORT_OPTIONS,
  roles: { type: 'string' },
  workers: { type: 'string' },
  'no-migrate': { type: 'boolean' },
  reset: { type: 'boolean' },
  incomplete: { type: 'boolean' },
  'give-up': { type: 'boolean' },
  reason: { type: 'string' },
  abort: { type: 'boolean' },
  now: { type: 'boolean' },
  number: { type: 'string' },
  capacity: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const;

/** The arguments that a command accepts; any other is refused. */
interface CommandForm {
  readonly options: readonly string[];
  /** Name of the command's first argument. */
  readonly argument?: string;
  /** Whether the first argument may be left out. */
  readonly isOptional?: boolean;
  /** Name of the second argument, which may be left out. */
  readonly second?: string;
}

const COMMANDS = {
  serve: { options: ['roles', 'workers', 'no-migrate'] },
  demo: { options: ['reset', 'workers'] },
  migrate: { options: [] },
  verify: { options: [] },
  repair: { options: ['incomplete'] },
  rebuild: { options: ['incomplete'] },
  lost: { options: ['give-up', 'reason'] },
  backup: { options: [], argument: 'PATH' },
  restore: { options: [], argument: 'PATH' },
  shards: { options: [], argument: 'N', isOptional: true },
  'catalog apply': { options: [], argument: 'FILE' },
  'cell add': { options: ['url', 'number', 'capacity'], argument: 'NAME' },
  'cell list': { options: [] },
  'cell drain': { options: [], argument: 'NAME' },
  'tenant move': { options: ['abort'], argument: 'TENANT', second: 'CELL' },
  'tenant remove-copy': { options: ['now'], argument: 'TENANT' },
  'prices import': { options: Object.keys(PRICES_IMPORT_OPTIONS), argument: 'FILE' },
} satisfies Record<string, CommandForm>;

type Command = keyof typeof COMMANDS;

/** The parsed command line. */
export interface Invocation {
  readonly command: Command;
  /** Empty without an argument. */
  readonly argument: string;
  readonly second?: string | undefined;
  readonly values: OptionValues;
}

type OptionValues = ReturnType<typeof readArgs>['values'];

/** @throws StartError, and an error of `parseArgs` for an option that no command has */
export function parseCommandLine(args: readonly string[]): Invocation | 'help' | 'version' {
  const { values, positionals } = readArgs(args);
  if (values.help) return 'help';
  if (values.version) return 'version';
  if (positionals.length === 0) return 'help';
  const { command, rest } = commandOf(positionals);
  const { options, argument, isOptional = false, second }: CommandForm = COMMANDS[command];
  const foreign = Object.keys(values).find((name) => !options.includes(name));
  if (foreign !== undefined) throw new StartError(`tollgate ${command} has no option --${foreign}.`);
  const [given = '', ...others] = argument === undefined ? ['', ...rest] : rest;
  const [givenSecond, surplus] = second === undefined ? [undefined, ...others] : others;
  if (surplus !== undefined) throw new StartError(`tollgate ${command} takes no argument "${surplus}".`);
  if (argument !== undefined && given === '' && !isOptional) {
    throw new StartError(`tollgate ${command} needs ${argument}.`);
  }
  return { command, argument: given, second: givenSecond, values };
}

function readArgs(args: readonly string[]) {
  return parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS });
}

/** Commands are one word or two. @throws StartError */
function commandOf(words: readonly string[]): { command: Command; rest: readonly string[] } {
  for (const count of [2, 1]) {
    const command = words.slice(0, count).join(' ');
    if (Object.hasOwn(COMMANDS, command)) return { command: command as Command, rest: words.slice(count) };
  }
  throw new StartError(`There is no command "${words[0]}". Run tollgate --help for the list of commands.`);
}
