/**
 * Returns the number of runs of a property test. By default it is small, because each run of the tests has other seeds:
 * `TOLLGATE_RUNS=20 npm test` makes all property tests twenty times as long.
 */
export function propertyRuns(usual: number): number {
  return usual * Number(process.env.TOLLGATE_RUNS ?? 1);
}
