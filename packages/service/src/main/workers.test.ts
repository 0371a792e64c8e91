import { describe, expect, it, test } from 'vitest';
import { ROLES } from '../config.js';
import { acceptingProcessesOf, databaseConnectionsOf, ratingThreadsOf, workersFor } from './workers.js';

const GIB = 1_024 ** 3;

it.each([
  [1, 64, 1],
  [2, 64, 1],
  [3, 64, 1],
  [4, 64, 2],
  [8, 64, 4],
  [32, 64, 8],
  [16, 4, 4],
  [16, 0.5, 1],
])('%i cores and %d GiB of memory have %i workers', (cores, gibibytes, workers) => {
  expect(workersFor(cores, gibibytes * GIB)).toBe(workers);
});

describe('workers', () => {
  const whole = { workers: 3, roles: ROLES, expressLane: true, databaseConnectionsMax: 20 };

  test('rate in a process with the worker role', () => {
    expect(ratingThreadsOf(whole)).toBe(3);
    expect(ratingThreadsOf({ ...whole, roles: ['api'] })).toBe(0);
  });

  test('accept if there are several, with the api role and the express lane', () => {
    expect(acceptingProcessesOf(whole)).toBe(3);
    expect(acceptingProcessesOf({ ...whole, workers: 1 })).toBe(0);
    expect(acceptingProcessesOf({ ...whole, roles: ['worker', 'projector'] })).toBe(0);
    expect(acceptingProcessesOf({ ...whole, expressLane: false })).toBe(0);
  });

  test('get connections of the embedded database', () => {
    expect(databaseConnectionsOf({ ...whole, workers: 1 })).toBe(100);
    expect(databaseConnectionsOf(whole)).toBe(7 * 20 + 16);
    expect(databaseConnectionsOf({ ...whole, workers: 1, databaseConnectionsMax: 200 })).toBe(416);
  });
});
