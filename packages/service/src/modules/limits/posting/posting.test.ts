import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PostingCatalog } from './batch-posting.js';
import { PostingFixture } from './posting.testing.js';
import type { TestRule } from './rule-values.testing.js';
import { NOW_S } from './usage.testing.js';

const DAY_S = 86_400;
const TODAY_S = Math.floor(NOW_S / DAY_S) * DAY_S;
const DAILY: TestRule = { key: 'daily', limit: '100' };

describe('posting a batch', () => {
  let fixture: PostingFixture;

  beforeEach(async () => {
    fixture = await PostingFixture.create();
  });

  afterEach(() => fixture.drop());

  it('says of each event whether it was posted, and names the transaction of each priced charge item', async () => {
    await fixture.route();
    const [posted, free, mixed, unpriced, other] = await fixture.post([
      {},
      { items: [{ amount: '0', quantity: '0' }] },
      { items: [{}, { amount: '2' }, { amount: '3', currency: 'EUR' }] },
      { items: [{}] },
      { subject: null },
    ]);
    const id = posted?.itemTransactionIds[0];
    expect(id).toMatch(/^led_[0-9a-f]{32}$/);
    expect(posted).toEqual({
      parents: [],
      posting: 'posted',
      accountId: 'acct_a',
      leaseStatus: 'none',
      itemTransactionIds: [id],
    });
    expect(free).toMatchObject({ posting: 'posted', itemTransactionIds: [id] });
    expect(mixed?.itemTransactionIds).toEqual(['', id, expect.stringMatching(/^led_/)]);
    expect(unpriced).toMatchObject({ posting: 'unpriced', accountId: 'acct_a', itemTransactionIds: [] });
    expect(other).toMatchObject({ posting: 'unrouted', accountId: '', itemTransactionIds: [] });
    expect(await fixture.wallets()).toEqual([
      { account_id: 'acct_a', currency: 'EUR', worth: '-3' },
      { account_id: 'acct_a', currency: 'USD', worth: '-3' },
    ]);
    const [entry] = await fixture.rows(
      `select trim_scale(e.amount)::text as amount from ledger_entries e where e.transaction_id = $1 and e.ledger_account = 'usage'`,
      [id],
    );
    expect(entry).toEqual({ amount: '3' });
  });

  it('posts nothing of a subject without a route, not even after it got one', async () => {
    expect(await fixture.post([{}, { items: [{}] }])).toMatchObject([
      { posting: 'unrouted', accountId: '' },
      { posting: 'unpriced', accountId: '' },
    ]);
    await fixture.route({ subjectId: 'u2' });
    expect(await fixture.post([{}])).toMatchObject([{ posting: 'unrouted' }]);
    await fixture.route();
    expect(await fixture.post([{}])).toMatchObject([{ posting: 'posted' }]);
    expect(await fixture.wallets()).toMatchObject([{ worth: '-1' }]);
  });

  it("prefers a subject's own route, and gives each subject of a shared one windows of its own", async () => {
    const [ruleNo] = await fixture.publish('ulp_1', [DAILY]);
    await fixture.route({ planId: 'ulp_1' });
    await fixture.route({ subjectId: 'u3', accountId: 'acct_b' });
    await fixture.post([{ subject: 'u1' }, { subject: 'u2' }, { subject: 'u1' }, { subject: 'u3' }]);
    const window = { rule_no: ruleNo, window_start: TODAY_S, limit: '100' };
    expect(await fixture.windows()).toEqual([
      { ...window, subject_id: 'u1', used: '2' },
      { ...window, subject_id: 'u2', used: '1' },
    ]);
    expect(await fixture.wallets()).toMatchObject([
      { account_id: 'acct_a', worth: '-3' },
      { account_id: 'acct_b', worth: '-1' },
    ]);
  });

  it('counts by measure, selector, dimension and currency, unpriced quantities too', async () => {
    const rules: TestRule[] = [
      { key: 'usd', limit: '100' },
      { key: 'eur', limit: '100', currency: 'EUR' },
      { key: 'all', limit: '100', measure: 'quantity' },
      { key: 'one', limit: '100', measure: 'quantity', selector: ['metric', 'llm.tokens'] },
      { key: 'prefix', limit: '100', measure: 'quantity', selector: ['metric_prefix', 'llm.'] },
      { key: 'model', limit: '100', measure: 'quantity', dimension: ['model', 'large'] },
    ];
    const ruleNos = await fixture.publish('ulp_1', rules);
    await fixture.route({ planId: 'ulp_1' });
    await fixture.post([
      { items: [{ quantity: '5', amount: '0.5' }], dimensions: { model: 'large' } },
      { items: [{ metric: 'llm.calls', quantity: '7', amount: '0.25', currency: 'EUR' }] },
      { items: [{ metric: 'storage', quantity: '11' }], dimensions: { model: 'small', large: 'model' } },
    ]);
    const used = new Map((await fixture.windows()).map(({ rule_no, used }) => [rule_no, used]));
    expect(ruleNos.map((no) => used.get(no))).toEqual(['0.5', '0.25', '23', '5', '12', '5']);
  });

  it('counts a late event in the window in which it happened, by the amount that this had', async () => {
    const [ruleNo] = await fixture.publish('ulp_1', [DAILY]);
    await fixture.route({ planId: 'ulp_1' });
    await fixture.post([{}]);
    fixture.clock.advanceMs(DAY_S * 1_000);
    await fixture.publish('ulp_1', [{ ...DAILY, limit: '7' }]);
    fixture.clock.advanceMs(DAY_S * 1_000);
    await fixture.post([{}, { atS: NOW_S + DAY_S }, { atS: NOW_S + 2 * DAY_S }, { atS: NOW_S - DAY_S }]);
    const window = { subject_id: 'u1', rule_no: ruleNo };
    expect(await fixture.windows()).toEqual([
      { ...window, window_start: TODAY_S - DAY_S, used: '1', limit: '100' },
      { ...window, window_start: TODAY_S, used: '2', limit: '100' },
      // The revision was published after this day had begun.
      { ...window, window_start: TODAY_S + DAY_S, used: '1', limit: '100' },
      { ...window, window_start: TODAY_S + 2 * DAY_S, used: '1', limit: '7' },
    ]);
  });

  it('opens the windows of the local day, however long it is', async () => {
    const rules: TestRule[] = [DAILY, { key: 'hourly', limit: '100', period: 'hour' }];
    const [daily, hourly] = await fixture.publish('ulp_1', rules);
    await fixture.route({ planId: 'ulp_1', timezone: 'Europe/Berlin' });
    // 2025-03-30, 23 hours long, and 2025-10-26, 25 hours long, in local time.
    const [spring, autumn] = [Date.UTC(2025, 2, 29, 23) / 1_000, Date.UTC(2025, 9, 25, 22) / 1_000];
    const hour = 3_600;
    await fixture.post(
      [
        spring,
        spring + 23 * hour - 1,
        spring + 23 * hour,
        autumn,
        autumn + 25 * hour - 1,
        autumn + 25 * hour,
      ].map((atS) => ({ atS })),
    );
    const windows = await fixture.rows(
      `select rule_no, window_start, window_end - window_start as length, trim_scale(used)::text as used from limit_windows order by 1, 2`,
    );
    expect(windows.filter(({ rule_no }) => rule_no === daily)).toMatchObject([
      { window_start: spring, length: 23 * hour, used: '2' },
      { window_start: spring + 23 * hour, length: 24 * hour, used: '1' },
      { window_start: autumn, length: 25 * hour, used: '2' },
      { window_start: autumn + 25 * hour, length: 24 * hour, used: '1' },
    ]);
    expect(windows.filter(({ rule_no }) => rule_no === hourly)).toHaveLength(6);
  });

  it('leaves windows alone that nothing was added to', async () => {
    await fixture.publish('ulp_1', [DAILY]);
    await fixture.route({ planId: 'ulp_1' });
    await fixture.post([
      { items: [{ amount: '0' }] },
      { items: [{ amount: '5' }] },
      { items: [{ amount: '-5' }] },
    ]);
    expect(await fixture.windows()).toEqual([]);
    expect(await fixture.wallets()).toMatchObject([{ worth: '0' }]);
  });

  it('cannot store windows whose lists differ in length', async () => {
    await fixture.publish('ulp_1', [DAILY]);
    await fixture.route({ planId: 'ulp_1' });
    await fixture.post([{}]);
    for (const list of [
      'used',
      'limit_amounts',
      'window_starts',
      'window_ends',
      'next_notices',
      'opened_at_ms',
    ]) {
      await expect(fixture.rows(`update current_windows set ${list} = '{}'`)).rejects.toMatchObject({
        constraint: 'current_windows_of_one_length',
      });
    }
  });

  it.each([
    ['its limit is missing', "limit_amounts = '{}'"],
    ['its limit is null', "limit_amounts = '{null}'"],
    ['its usage is missing', "used = '{}'"],
    ['its usage is null', "used = '{null}'"],
    ['its rule is null', "rule_nos = '{null}'"],
    ['its start is null', "window_starts = '{null}'"],
    [
      'all of its lists are empty but that of its rules',
      "window_starts = '{}', used = '{}', limit_amounts = '{}'",
    ],
  ])('fails rather than count in a damaged window: %s', async (_name, damage) => {
    await fixture.publish('ulp_1', [DAILY]);
    await fixture.route({ planId: 'ulp_1' });
    await fixture.post([{}]);
    await fixture.rows('alter table current_windows drop constraint current_windows_of_one_length');
    await fixture.rows(`update current_windows set ${damage}`);
    await expect(fixture.post([{}])).rejects.toThrow();
    expect(await fixture.wallets()).toMatchObject([{ worth: '-1' }]);
  });

  it('keeps usage when another route with the same plan takes over', async () => {
    await fixture.publish('ulp_1', [DAILY]);
    await fixture.route({ planId: 'ulp_1' });
    await fixture.post([{}]);
    await fixture.route({ subjectId: 'u1', planId: 'ulp_1', accountId: 'acct_b' });
    await fixture.post([{}]);
    expect(await fixture.windows()).toMatchObject([{ used: '2' }]);
  });

  it('looks up no subject of a project without routes', async () => {
    const catalog: PostingCatalog = {
      projectsWithRoutes: (tx, ids) => fixture.catalog.projectsWithRoutes(tx, ids),
      read: () => Promise.reject(new Error('nothing is to be read')),
    };
    const posted = await fixture.post([{}, { items: [{}] }], undefined, catalog);
    expect(posted).toMatchObject([{ posting: 'unrouted', accountId: '' }, { posting: 'unpriced' }]);
  });

  it('holds values that PostgreSQL needs escaped', async () => {
    const id = `a"b\\c{d},'e' ${'é'.repeat(40)} null`;
    const [ruleNo] = await fixture.publish('ulp_1', [{ ...DAILY, limit: '1' }]);
    await fixture.route({ planId: 'ulp_1' });
    await fixture.post([{ subject: id }, { subject: 'null' }, { subject: '' }]);
    expect(await fixture.windows()).toMatchObject(
      ['', 'null', id].sort().map((subject) => ({ subject_id: subject, rule_no: ruleNo, used: '1' })),
    );
    expect(await fixture.crossings()).toContain(`limit ${ruleNo} ${TODAY_S} 100 user ${id}`);
  });

  it('reads a change at once of a direct limit that came while the batch was rated', async () => {
    const routeId = await fixture.route();
    await fixture.limit(routeId, DAILY);
    let isChanged = false;
    const catalog: PostingCatalog = {
      projectsWithRoutes: (tx, ids) => fixture.catalog.projectsWithRoutes(tx, ids),
      read: async (...args: Parameters<typeof fixture.catalog.read>) => {
        const routes = await fixture.catalog.read(...args);
        if (!isChanged) {
          isChanged = true;
          await fixture.rows(`update direct_limit_amounts set limit_amount = 5`);
          await fixture.rows(`update limit_revisions set revision = revision + 1`);
        }
        return routes;
      },
    };
    await fixture.post([{}], undefined, catalog);
    expect(await fixture.windows()).toMatchObject([{ used: '1', limit: '5' }]);
  });
});
