import { afterAll, beforeAll } from 'vitest';
import { createTestClickHouse, type TestClickHouse } from '../../testing/index.js';
import { describeClickHouse } from './contract.testing.js';
import { describeRollups } from './rollups.testing.js';

let store: TestClickHouse;
beforeAll(async () => {
  store = await createTestClickHouse();
});
afterAll(() => store.drop());

describeClickHouse('on a server', () => store.clickhouse);
describeRollups('on a server', () => store.clickhouse);
