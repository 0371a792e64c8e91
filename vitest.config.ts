import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    alias: {
      '@tollgate/contract': source('./packages/contract/src/index.ts'),
      '@tollgate/sdk': source('./packages/sdk/src/index.ts'),
    },
  },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'tests/**/*.test.ts'],
    env: { TZ: 'UTC' },
    pool: 'forks',
    maxWorkers: 2,
    globalSetup: [source('./packages/service/src/testing/global-setup.ts')],
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
