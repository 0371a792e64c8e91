import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// Before anything is loaded: the embedded ClickHouse of the global setup, in this very process, reads it
// once. Workers inherit it.
process.env.TZ = 'UTC';

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    alias: {
      '@tollgate/contract': source('./packages/contract/src/index.ts'),
      '@tollgate/sdk/browser': source('./packages/sdk/src/browser.ts'),
      '@tollgate/sdk': source('./packages/sdk/src/index.ts'),
      '@tollgate/timezone': source('./packages/timezone/src/index.ts'),
    },
  },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'tests/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Modules are loaded once per worker, not once per file: what one keeps is the same for every test.
    isolate: false,
    globalSetup: [source('./packages/service/src/testing/global-setup.ts')],
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
