import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Before anything is loaded: the embedded ClickHouse of the global setup, in this very process, reads it
// once. Workers inherit it.
process.env.TZ = 'UTC';

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const SERVICE_TESTS = source('./tests/');
const TIDY_TESTS = source('./tests/tidy');
/** The part of the other files that runs beside the tests of whole services; the rest fills the end of the run. */
const SPREAD_OVER = 3 / 4;

/**
 * Spreads the tests of whole services, which are long and mostly wait, among the others, which are short and mostly
 * compute: so few services run at the same time, and no long file begins last, when the other workers have ended.
 */
class SpreadSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isOfServices = ({ moduleId }: TestSpecification) =>
      moduleId.startsWith(SERVICE_TESTS) && !moduleId.startsWith(TIDY_TESTS);
    const others = sorted.filter((file) => !isOfServices(file));
    const ofServices = sorted.filter(isOfServices);
    const othersBetween = (others.length * SPREAD_OVER) / ofServices.length;
    const place = new Map([
      ...others.map((file, index) => [file, index] as const),
      // The sort is stable: before the other file at the same place.
      ...ofServices.map((file, index) => [file, index * othersBetween] as const),
    ]);
    const before = (file: TestSpecification) => place.get(file) as number;
    return [...ofServices, ...others].sort((a, b) => before(a) - before(b));
  }
}

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
    sequence: { sequencer: SpreadSequencer },
    pool: 'forks',
    // Two more than CI has cores, because tests of services wait for other processes.
    maxWorkers: 4,
    // Modules are loaded once per worker, not once per file: what one keeps is the same for every test.
    isolate: false,
    globalSetup: [source('./packages/service/src/testing/global-setup.ts')],
    testTimeout: 180_000,
    hookTimeout: 300_000,
  },
});
