import type { Cumulative } from '@tollgate/contract';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { countedItems, countedProject, countedRules, steps } from './counted.testing.js';
import { CorrectionsProject } from './project.testing.js';

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
/** The sun rises in Tokyo nine hours earlier than in Greenwich. */
const TOKYO_S = 9 * HOUR_S;

let fixture: CorrectionsFixture;

beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());

it.each([
  ['an account', 'account'],
  ['a route', 'subject'],
] as const)('a changed timezone of %s applies from the next period on', async (_, per) => {
  const project = await countedProject(fixture, {
    total: 'total.quantity',
    cumulative: { period: 'day', per },
  });
  const { id, accountId } = await project.route('a');
  const dayS = Math.floor((fixture.nowS - 100) / DAY_S) * DAY_S;
  const send = (n: number, atS: number) => countedItems(project, [{ customer: 'a', n }], fixture.nowS - atS);
  const before = await send(1, dayS + HOUR_S);
  const changed = per === 'account' ? `/accounts/${accountId}` : `/subject-routes/${id}`;
  await project.must(200, 'PUT', changed, { timezone: 'Asia/Tokyo' });
  fixture.clock.advanceMs(3 * DAY_S * 1_000);
  const sameDay = await send(2, dayS + DAY_S - 1);
  const rest = await send(4, dayS + DAY_S);
  const nextDay = await send(8, dayS + 2 * DAY_S - TOKYO_S);
  expect(steps([...before, ...sameDay, ...rest, ...nextDay])).toEqual([
    ['1', '0', '1'],
    ['2', '1', '3'],
    ['4', '0', '4'],
    ['8', '0', '8'],
  ]);
  const periodsAt = async (atS: number) => (await project.get(`/counters?at=${atS}`)).counters;
  expect(await periodsAt(dayS)).toMatchObject([{ period_start: dayS, period_end: dayS + DAY_S }]);
  expect(await periodsAt(dayS + DAY_S)).toMatchObject([
    { period_start: dayS + DAY_S, period_end: dayS + 2 * DAY_S - TOKYO_S },
  ]);
  expect(await fixture.verify()).toMatchObject({ status: 'equal' });
});

it('a period of an account is counted from its anchor', async () => {
  const project = await countedProject(fixture, {
    total: 'total.quantity',
    cumulative: { period: '7d', per: 'account' },
  });
  const { accountId } = await project.route('a');
  const anchorS = fixture.nowS - 100 * DAY_S - 5;
  await project.must(200, 'PUT', `/accounts/${accountId}`, { anchor: anchorS });
  const [item] = await countedItems(project, [{ customer: 'a', n: 1 }]);
  const periods = Math.floor((fixture.nowS - 100 - anchorS) / (7 * DAY_S));
  expect(item?.cumulative?.period_start).toBe(anchorS + periods * 7 * DAY_S);
});

it.each([
  ['an account', 'account'],
  ['a route', 'subject'],
] as const)('a changed anchor of %s applies from the next period on', async (_, per) => {
  const project = await countedProject(fixture, {
    total: 'total.quantity',
    cumulative: { period: '7d', per },
  });
  const { id, accountId } = await project.route('a');
  const change = (anchor: number) =>
    per === 'account'
      ? project.must(200, 'PUT', `/accounts/${accountId}`, { anchor })
      : project.must(200, 'PUT', `/subject-routes/${id}`, { usage_limit_anchor: anchor });
  const anchorS = fixture.nowS - 3 * DAY_S;
  const endS = anchorS + 7 * DAY_S;
  await change(anchorS);
  const send = (n: number, atS: number) => countedItems(project, [{ customer: 'a', n }], fixture.nowS - atS);
  const items = await send(1, fixture.nowS - 100);
  await change(anchorS + DAY_S);
  fixture.clock.advanceMs(16 * DAY_S * 1_000);
  const nextEndS = endS + 8 * DAY_S;
  for (const atS of [endS - 1, endS, endS + DAY_S, nextEndS - 1, nextEndS])
    items.push(...(await send(1, atS)));
  expect(items.map(({ cumulative }) => cumulative?.period_start)).toEqual([
    ...[anchorS, anchorS, endS, endS, endS],
    nextEndS,
  ]);
  expect(await fixture.verify()).toMatchObject({ status: 'equal' });
});

it.each([
  ['first in the rest', [0, 5]],
  ['first after it', [5, 0]],
])('charges a minimum once for a short rest and the next day, with usage %s', async (_, hours) => {
  const project = await countedProject(fixture, {
    total: 'dec_max(total.quantity, dec("25"))',
    cumulative: { period: 'day', per: 'account' },
  });
  const { accountId } = await project.route('a');
  const restS = Math.ceil(fixture.nowS / DAY_S) * DAY_S;
  await countedItems(project, [{ customer: 'a', n: 1 }]);
  // Its clocks are five hours behind those in Greenwich, all year round.
  await project.must(200, 'PUT', `/accounts/${accountId}`, { timezone: 'America/Jamaica' });
  fixture.clock.advanceMs(3 * DAY_S * 1_000);
  const items = [];
  for (const hour of hours) {
    const ago = fixture.nowS - restS - hour * HOUR_S;
    items.push(...(await countedItems(project, [{ customer: 'a', n: 1 }], ago)));
  }
  expect(items.map(({ amount }) => amount)).toEqual(['25', '0']);
  const period = { period_start: restS, period_end: restS + DAY_S + 5 * HOUR_S, amount: '25' };
  const expectOnePeriod = async () => {
    for (const hour of [0, 5, 28])
      expect((await project.get(`/counters?at=${restS + hour * HOUR_S}`)).counters).toMatchObject([period]);
  };
  await expectOnePeriod();
  expect(await project.correct({})).toMatchObject({ status: 'applied' });
  await expectOnePeriod();
  expect(await fixture.verify()).toMatchObject({ status: 'equal' });
});

it('a year is a year of the calendar', async () => {
  const project = await countedProject(fixture, {
    total: 'total.quantity',
    cumulative: { period: 'year', per: 'project' },
  });
  const [item] = await countedItems(project, [{ customer: 'a', n: 1 }]);
  const year = new Date((fixture.nowS - 100) * 1_000).getUTCFullYear();
  expect(item?.cumulative?.period_start).toBe(Date.UTC(year) / 1_000);
});

it('a plan fails if its counter gets another period meanwhile, and can be made again', async () => {
  const project = await CorrectionsProject.create(fixture);
  const { accountId } = await project.route('a');
  await project.sendAndRate([{ customer: 'a', n: 1 }]);
  const rules = countedRules({ total: 'total.quantity', cumulative: { period: 'day', per: 'account' } });
  const content = { ...rules, effective_from: fixture.nowS - DAY_S };
  await project.must(200, 'PUT', `/extractor-rule-sets/${project.ruleSetId}`, content);
  await project.must(200, 'POST', `/extractor-rule-sets/${project.ruleSetId}/publish`);
  const id = await project.start({ dry_run: true });
  expect(await fixture.advance(fixture.api.postgres, 1)).toBe(1);
  await project.must(200, 'PUT', `/accounts/${accountId}`, { timezone: 'Asia/Tokyo' });
  await project.send([{ customer: 'a', n: 2 }]);
  await fixture.rate();
  expect(await project.ended(id)).toMatchObject({
    status: 'failed',
    failure: {
      code: 'correction_stale',
      message: 'Another period of the counter tokens has begun since the plan. Plan the correction again.',
    },
  });
  const audited = await fixture.rows('select action from audit_log where resource_id = $1', [id]);
  expect(audited).toEqual([{ action: 'usage_correction.create' }]);
  expect(await project.correct({})).toMatchObject({ status: 'applied', applied: { events: 1 } });
  expect(await fixture.verify()).toMatchObject({ status: 'equal' });
});

it('a plan fails if its period has begun with another end meanwhile', async () => {
  const project = await CorrectionsProject.create(fixture);
  const { accountId } = await project.route('a');
  fixture.clock.advanceMs(3 * DAY_S * 1_000);
  const restS = Math.floor(fixture.nowS / DAY_S) * DAY_S - DAY_S;
  const sendAt = (atS: number) => project.sendAndRate([{ customer: 'a', n: 1 }], fixture.nowS - atS);
  await sendAt(restS + 20 * HOUR_S);
  const rules = countedRules({ total: 'total.quantity', cumulative: { period: 'day', per: 'account' } });
  const content = { ...rules, effective_from: fixture.nowS - 9 * DAY_S };
  await project.must(200, 'PUT', `/extractor-rule-sets/${project.ruleSetId}`, content);
  await project.must(200, 'POST', `/extractor-rule-sets/${project.ruleSetId}/publish`);
  await sendAt(restS - 1);
  const id = await project.start({ dry_run: true, filter: { from: restS, to: restS + DAY_S } });
  expect(await project.ended(id)).toMatchObject({ status: 'planned' });
  await project.must(200, 'PUT', `/accounts/${accountId}`, { timezone: 'Asia/Tokyo' });
  await sendAt(restS);
  await project.must(202, 'POST', `/usage/corrections/${id}/apply`, { counters: 'current' });
  expect(await project.ended(id)).toMatchObject({ status: 'stale' });
  expect(await fixture.verify()).toMatchObject({ status: 'equal' });
});

const AGGREGATES: Partial<Cumulative>[] = [{}, { aggregate: 'unique', of: 'model' }];

it.each(AGGREGATES)('a plan fails if its items leave their counter %j meanwhile', async (cumulative) => {
  const project = await countedProject(fixture, { total: 'total.quantity', cumulative });
  const [eventId] = await project.sendAndRate([{ customer: 'a', n: 1, model: 'x' }]);
  const id = await project.start({ action: 'void' });
  expect(await fixture.advance(fixture.api.postgres, 1)).toBe(1);
  const wait = (ms: number) =>
    fixture.rows('update usage_corrections set busy_until_ms = busy_until_ms + $2 where id = $1', [id, ms]);
  await wait(DAY_S * 1_000);
  const url = `/usage/events/${eventId}/void`;
  const { correction_id: other } = await project.must(202, 'POST', url, { reason: 'sent twice' });
  while ((await project.correction(other)).status !== 'applied') {
    await fixture.advance();
    await fixture.project();
    fixture.clock.advanceMs(1_000);
  }
  await wait(-DAY_S * 1_000);
  expect(await project.ended(id)).toMatchObject({
    status: 'failed',
    failure: {
      code: 'correction_stale',
      message: 'A charge item has left the counter tokens since the plan. Plan the correction again.',
    },
  });
  expect(await fixture.verify()).toMatchObject({ status: 'equal' });
});

it.each(AGGREGATES)('a plan is stale if its items have left their counter %j', async (cumulative) => {
  const project = await countedProject(fixture, { total: 'total.quantity', cumulative });
  const [eventId = ''] = await project.sendAndRate([{ customer: 'a', n: 1, model: 'x' }]);
  const id = await project.start({ action: 'void', dry_run: true });
  expect(await project.ended(id)).toMatchObject({ status: 'planned' });
  await project.void(eventId);
  await project.must(202, 'POST', `/usage/corrections/${id}/apply`, { counters: 'current' });
  expect(await project.ended(id)).toMatchObject({ status: 'stale', applied: { events: 0 } });
  expect(await fixture.verify()).toMatchObject({ status: 'equal' });
});
