import { describe, expect, it } from 'vitest';
import { parseCommandLine } from './command-line.js';

const parse = (line: string) => parseCommandLine(line === '' ? [] : line.split(' '));

it.each([
  ['', 'help'],
  ['--help', 'help'],
  ['serve -h', 'help'],
  ['prices --help', 'help'],
  ['--version', 'version'],
])('%j asks for %s', (line, asked) => {
  expect(parse(line)).toBe(asked);
});

it.each([
  ['serve', { command: 'serve', argument: '', values: {} }],
  ['serve --roles api,worker', { command: 'serve', argument: '', values: { roles: 'api,worker' } }],
  ['serve --no-migrate', { command: 'serve', argument: '', values: { 'no-migrate': true } }],
  ['demo --reset', { command: 'demo', argument: '', values: { reset: true } }],
  [
    'prices import p.json --models a --models b,c --publish',
    { command: 'prices import', argument: 'p.json', values: { models: ['a', 'b,c'], publish: true } },
  ],
  ['shards', { command: 'shards', argument: '', values: {} }],
  ['shards 8', { command: 'shards', argument: '8', values: {} }],
  ['catalog apply plans.json', { command: 'catalog apply', argument: 'plans.json', values: {} }],
  [
    'prices --dry-run import p.json',
    { command: 'prices import', argument: 'p.json', values: { 'dry-run': true } },
  ],
])('reads %s', (line, invocation) => {
  expect(parse(line)).toEqual(invocation);
});

describe('refuses', () => {
  it.each([
    ['start', 'There is no command "start". Run tollgate --help for the list of commands.'],
    ['prices', 'There is no command "prices". Run tollgate --help for the list of commands.'],
    ['prices export x', 'There is no command "prices". Run tollgate --help for the list of commands.'],
    ['constructor', 'There is no command "constructor". Run tollgate --help for the list of commands.'],
    ['verify now', 'tollgate verify takes no argument "now".'],
    ['prices import a b', 'tollgate prices import takes no argument "b".'],
    ['shards 8 9', 'tollgate shards takes no argument "9".'],
    ['catalog apply', 'tollgate catalog apply needs FILE.'],
    ['prices import', 'tollgate prices import needs FILE.'],
    ['serve --reset', 'tollgate serve has no option --reset.'],
    ['prices import a --roles api', 'tollgate prices import has no option --roles.'],
    ['serve --models a', 'tollgate serve has no option --models.'],
    ['serve --rolls', "Unknown option '--rolls'"],
  ])('%s', (line, message) => {
    expect(() => parse(line)).toThrow(message);
  });
});
