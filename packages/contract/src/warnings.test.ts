import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { WARNINGS, type WarningCode, warningOf } from './warnings.js';

test('the registry of warnings is what docs/errors.md lists, no more and no less', async () => {
  const page = await readFile(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `([a-z_]+)` \| (.+) \|$/gm)].map(([, code, message]) => [
    code,
    message,
  ]);
  const registered = Object.entries(WARNINGS).map(([code, { message }]) => [code, message]);
  expect(rows.sort()).toEqual(registered.sort());
});

test.each(Object.keys(WARNINGS) as WarningCode[])('%s names what is doubtful, whatever its text', (code) => {
  expect(code).toMatch(/^[a-z]+(?:_[a-z]+)*$/);
  expect(warningOf(code, '$& `{name}`')).toEqual({
    code,
    name: '$& `{name}`',
    message: expect.stringContaining('`$& `{name}``'),
  });
});

test.each([
  ['llm.input_token', 'llm.input_tokens'],
  ['LLM.Input_Tokens', 'llm.input_tokens'],
  ['llm.inptu_tokens', 'llm.input_tokens'],
  ['calls', 'call'],
  ['bytes', undefined],
  ['cal', 'call'],
  ['', undefined],
])('a warning about %j proposes %j', (name, proposed) => {
  const known = ['llm.output_tokens', 'llm.input_tokens', 'call', 'calm'];
  const { message } = warningOf('unknown_metric', name, known);
  const end = proposed === undefined ? 'Check its spelling.' : `Did you mean \`${proposed}\`?`;
  expect(message.slice(-end.length)).toBe(end);
});
