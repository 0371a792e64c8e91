import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { subjectNumber } from '../rules/route-rules.js';
import { PostingFixture } from './posting.testing.js';
import { NOW_S, type TestUsage } from './usage.testing.js';

const DAY_S = 86_400;

let fixture: PostingFixture;

beforeAll(async () => {
  fixture = await PostingFixture.create();
  await fixture.publish('ulp_1', [{ key: 'daily', limit: '10', notifyAt: [50, 80] }]);
  await fixture.route({ planId: 'ulp_1' });
});
afterAll(() => fixture.drop());

/** Posts a batch, and returns the first words of its statements that name a table of windows, alerts or messages. */
async function statementsOf(...events: TestUsage[]): Promise<string[]> {
  const spy = vi.spyOn(pg.Client.prototype, 'query');
  try {
    await fixture.post(events);
    const texts = spy.mock.calls.map(
      ([query]) => (query as unknown as { text?: string })?.text ?? String(query),
    );
    return texts.map(withoutNote).flatMap((text) => {
      const table = /current_windows|past_windows|limit_alerts|limit_reserved|webhook_messages/.exec(
        text,
      )?.[0];
      return table === undefined ? [] : [`${text.trim().split(/\s/)[0]} ${table}`];
    });
  } finally {
    spy.mockRestore();
  }
}

const NOTE = /^\s*with noted as \(insert into key_changes \(keys\) values \(\$1::integer\[\]\)\)(,?)/;
const WRITES_WINDOWS = /(insert into|update) (current|past)_windows/;

/** Returns a statement without the note of what it changes, with which each must begin that changes usage. */
function withoutNote(text: string): string {
  if (!WRITES_WINDOWS.test(text) || text.includes('set next_notice')) return text;
  expect(text).toMatch(NOTE);
  return text.replace(NOTE, (_, comma) => (comma === ',' ? 'with' : ''));
}

const cost = (amount: string, atS = NOW_S): TestUsage => ({ atS, items: [{ amount }] });

describe('the statements of a batch', () => {
  it('are two for the windows that it opens', async () => {
    expect(await statementsOf(cost('1'))).toEqual(['select current_windows', 'insert current_windows']);
  });

  it('read and write the current windows, and nothing else, while no threshold is passed', async () => {
    const two = ['select current_windows', 'update current_windows'];
    expect(await statementsOf(cost('1'))).toEqual(two);
    expect(await statementsOf(cost('-0.5'))).toEqual(two);
    expect(await statementsOf(cost('0.5'), { ...cost('0'), subject: 'u2' })).toEqual(two);
  });

  it('are the same for a subject with levels above, and their windows', async () => {
    await fixture.route({ subjectId: 'top', planId: 'ulp_1' });
    await fixture.route({ subjectId: 'middle', planId: 'ulp_1', accountId: null, parentId: 'top' });
    await fixture.route({ subjectId: 'low', planId: 'ulp_1', accountId: null, parentId: 'middle' });
    const low = { ...cost('1'), subject: 'low' };
    expect(await statementsOf(low)).toEqual(['select current_windows', 'insert current_windows']);
    const two = ['select current_windows', 'update current_windows'];
    expect(await statementsOf(low, { ...cost('1'), subject: 'middle' })).toEqual(two);
    const used = (await fixture.windows()).map(({ subject_id, used }) => `${subject_id} ${used}`);
    expect(used).toEqual(expect.arrayContaining(['low 2', 'middle 3', 'top 3']));
  });

  it('are one more for the past windows that late usage falls into', async () => {
    await statementsOf(cost('1', NOW_S - DAY_S));
    expect(await statementsOf(cost('1', NOW_S - DAY_S), cost('-1', NOW_S))).toEqual([
      'select current_windows',
      'with past_windows',
      'update current_windows',
    ]);
  });

  it('record alerts only where usage passes a threshold', async () => {
    const passing = ['select current_windows', 'insert current_windows'];
    const sending = ['select limit_reserved', 'insert webhook_messages'];
    expect(await statementsOf(cost('5'))).toEqual([...passing, 'with limit_alerts', ...sending]);
    expect(await statementsOf(cost('-2'))).toEqual([...passing, 'update limit_alerts', ...sending]);
    expect(await statementsOf(cost('-0.5'))).toEqual(['select current_windows', 'update current_windows']);
  });

  it('note the subjects whose windows a changed limit has reached, the newest and the past ones', async () => {
    const { projectNo } = fixture.project;
    const routeId = await fixture.route({ subjectId: 'changed' });
    const ruleNo = await fixture.limit(routeId, { key: 'day', limit: '10', notifyAt: [] });
    await statementsOf(
      { ...cost('1'), subject: 'changed' },
      { ...cost('1', NOW_S - DAY_S), subject: 'changed' },
    );
    const since = await fixture.rows('select max(place) as place from key_changes');
    await fixture.changeLimit('changed', 'day', ruleNo, '20', []);
    const notes = await fixture.rows(`select keys from key_changes where place > ${Number(since[0]?.place)}`);
    expect(notes).toEqual([{ keys: [subjectNumber(projectNo, { type: 'user', id: 'changed' })] }]);
  });
});
