import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { ERRORS } from './errors.js';

describe('the error registry', () => {
  test('is what docs/errors.md lists, no more and no less', async () => {
    const page = await readFile(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
    const rows = [
      ...page.matchAll(/^\| (\d{3})(?: \((\d{3}) when the body names it\))? \| `([a-z_]+)` \| (.+) \|$/gm),
    ];
    const documented = rows.map(([, status, inBody = status, code, message]) => [
      code,
      status,
      inBody,
      message,
    ]);
    const registered = Object.entries(ERRORS).map(([code, entry]) => {
      const inBody = 'statusInBody' in entry ? entry.statusInBody : entry.status;
      return [code, String(entry.status), String(inBody), entry.message];
    });
    expect(documented.sort()).toEqual(registered.sort());
  });

  test.each(Object.entries(ERRORS))('%s has a stable shape', (code, { status, message }) => {
    expect(code).toMatch(/^[a-z]+(?:_[a-z]+)*$/);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(message).toMatch(/[.>]$/);
  });
});
