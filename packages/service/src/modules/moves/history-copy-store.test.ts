import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClickHouse } from '../../platform/clickhouse/index.js';
import {
  createTestClickHouse,
  insertUsageRows,
  stored,
  type TestClickHouse,
  usageItem,
  usageRow,
  waitFor,
} from '../../testing/index.js';
import type { UsageItemRow } from '../usage/index.js';
import { deleteHistory, digestHistory, exportUnit, nextUnit } from './history-copy-store.js';

const SCOPE = { tenantId: 'ten_1', projectId: 'prj_1', projectNo: 1, storage: 'shared' } as const;
const TABLES = ['usage_events', 'usage_rollup'];

let store: TestClickHouse;
beforeAll(async () => {
  store = await createTestClickHouse();
  await insertUsageRows(store.clickhouse, [usageRow({ tenantId: 'ten_1', projectId: 'prj_1' })]);
});
afterAll(() => store.drop());

/** A replica that can only be read up to date, and where another one deletes rows for a while. */
function replica(state: { readonly fetched: string[]; isOtherDeleting: boolean }): ClickHouse {
  const { clickhouse } = store;
  const refuse = () => Promise.reject(new Error('this read is not up to date'));
  const mutations = `(SELECT 'usage_rollup' AS table, 0 AS is_done, 'DELETE prj_1' AS command)`;
  return {
    query: (sql, params) => (sql.includes('is_done') ? clickhouse.query(sql, params) : refuse()),
    queryText: refuse,
    exportRows: refuse,
    exportRowsUpTo: refuse,
    command: (sql) => clickhouse.command(sql),
    insertRows: refuse,
    insertsEnded: refuse,
    upToDate: (tables) => {
      state.fetched.push(...tables);
      return clickhouse.upToDate(tables);
    },
    reachesAll: async () => true,
    systemTable: (name) => (state.isOtherDeleting ? mutations : clickhouse.systemTable(name)),
    close: async () => {},
  };
}

describe('the history of a project on a cluster', () => {
  it('is copied and compared up to date', async () => {
    const state = { fetched: [] as string[], isOtherDeleting: false };
    const clickhouse = replica(state);
    const unit = await nextUnit(clickhouse, SCOPE, { afterMs: 0, beforeMs: 2_000_000_000_000 });
    expect(unit).toMatchObject({ events: 1 });
    if (unit === undefined) return;
    expect((await exportUnit(clickhouse, SCOPE, unit)).length).toBeGreaterThan(0);
    expect(await digestHistory(clickhouse, SCOPE)).toMatchObject({ events: '1' });
    expect(state.fetched).toEqual([...TABLES, ...TABLES, ...TABLES]);
  });

  it('is compared with its costs, which add nothing to a history without any', async () => {
    const itemsOf = async (projectId: string) =>
      (await digestHistory(store.clickhouse, { ...SCOPE, projectId })).items;
    const cost = (currency: string) => ({
      ...{ amount: stored('0.5'), currency },
      ...{ ruleSetId: 'prs_cost', ruleSetVersion: 1, ruleName: 'a' },
    });
    const rowsOf = (projectId: string, items: UsageItemRow[]) => [usageRow({ ...SCOPE, projectId, items })];
    await insertUsageRows(store.clickhouse, rowsOf('prj_plain', [usageItem()]));
    await insertUsageRows(store.clickhouse, rowsOf('prj_cost', [usageItem({ cost: cost('USD') })]));
    const [plain, costed] = [await itemsOf('prj_plain'), await itemsOf('prj_cost')];
    expect(plain).toHaveLength(4);
    expect(costed.filter(([resolution]) => resolution?.endsWith(' cost'))).toEqual(
      ['0', '3600', '60', '900'].map((resolution) => [
        ...[`${resolution} cost`, 'llm.tokens', 'token', 'USD', '1', '0', '0.5'],
      ]),
    );
    expect(costed.filter(([resolution]) => !resolution?.endsWith(' cost'))).toEqual(plain);
  });

  it('is deleted once no replica has to delete any of it', async () => {
    const state = { fetched: [] as string[], isOtherDeleting: false };
    const clickhouse = replica(state);
    expect(await deleteHistory(clickhouse, SCOPE)).toBe(false);
    await waitFor(() => deleteHistory(clickhouse, SCOPE));
    expect(new Set(state.fetched)).toEqual(new Set(TABLES));
    state.isOtherDeleting = true;
    expect(await deleteHistory(clickhouse, SCOPE)).toBe(false);
    state.isOtherDeleting = false;
    expect(await deleteHistory(clickhouse, SCOPE)).toBe(true);
  });
});
