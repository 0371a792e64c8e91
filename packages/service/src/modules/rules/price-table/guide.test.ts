import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { IMPORTED_PRIORITY } from './convert-row.js';
import { PRICED_METRICS } from './price-keys.js';

const GUIDE = readFileSync(new URL('../../../../../../docs/guides/prices.md', import.meta.url), 'utf8');

it('the guide lists what is imported', () => {
  const rows = PRICED_METRICS.map(
    ({ metric, key, fallback }) =>
      `| \`${metric}\` | \`${key}\` | ${fallback === undefined ? '' : `\`${fallback}\` `}|`,
  );
  expect(GUIDE).toContain(`\n${rows.join('\n')}\n\n`);
  expect(GUIDE).toContain(`The rules have priority ${IMPORTED_PRIORITY}.`);
});
