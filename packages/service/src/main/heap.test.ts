import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { HEAP_GROWTH } from './heap.js';

test('V8 knows the option: one that it does not know, it ignores', () => {
  const [name] = HEAP_GROWTH.split('=');
  expect(execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })).toContain(`${name} `);
});
