import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { CorrectionsFixture } from './corrections.testing.js';
import { CorrectionsProject } from './project.testing.js';

let fixture: CorrectionsFixture;
let project: CorrectionsProject;
let eventId: string;
beforeAll(async () => {
  fixture = await CorrectionsFixture.open();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  project = await CorrectionsProject.create(fixture, { token: '1' });
  await project.route('c1');
  [eventId = ''] = await project.sendAndRate([{ customer: 'c1', n: 2 }]);
});

const voidUrl = () => `/usage/events/${eventId}/void`;
const reason = { reason: 'sent twice' };
const requested = async (url: string, body: object): Promise<string> =>
  (await project.must(202, 'POST', url, body)).correction_id;
const replaceBy = (n: number) =>
  requested(`/usage/events/${eventId}/replace`, { ...reason, raw_json: { customer: 'c1', n } });

it('the same requests are one, in whatever order their fields are', async () => {
  const sent = async (url: string, body: string, key: object = {}) => {
    const answer = await project.call('POST', url, JSON.parse(body), key);
    return [answer.status, answer.text];
  };
  const { from, to } = project.everything;
  const [one, other] = [
    `{"action":"void","filter":{"from":${from},"to":${to},"source":"none"},"reason":"all wrong"}`,
    `{"reason":"all wrong","filter":{"source":"none","to":${to},"from":${from}},"action":"void"}`,
  ];
  const first = await sent('/usage/corrections', one, { 'idempotency-key': 'many' });
  expect(first[0]).toBe(202);
  expect(await sent('/usage/corrections', other, { 'idempotency-key': 'many' })).toEqual(first);
  const replaceUrl = `/usage/events/${eventId}/replace`;
  const [content, same] = [
    '{"reason":"r","metadata":{"a":1,"b":[{"c":1,"d":2}]},"raw_json":{"customer":"c1","n":3}}',
    '{"raw_json":{"n":3,"customer":"c1"},"metadata":{"b":[{"d":2,"c":1}],"a":1},"reason":"r"}',
  ];
  const replaced = await sent(replaceUrl, content, { 'idempotency-key': 'one' });
  expect(replaced[0]).toBe(202);
  expect(await sent(replaceUrl, same, { 'idempotency-key': 'one' })).toEqual(replaced);
  expect(await sent(replaceUrl, same)).toEqual(replaced);
  const [status] = await sent(replaceUrl, same.replace('"n":3', '"n":4'), { 'idempotency-key': 'one' });
  expect(status).toBe(409);
});

it('an event that is to become something else meanwhile gets a correction of its own', async () => {
  const replace = () => replaceBy(3);
  const first = await requested(voidUrl(), reason);
  const replaced = await replace();
  const again = await requested(voidUrl(), reason);
  expect(new Set([first, replaced, again]).size).toBe(3);
  expect(await requested(voidUrl(), reason)).toBe(again);
  await project.ended(again);
  const { id: inForce } = await project.void(eventId);
  await replace();
  // The event is still voided, and will not be so for long.
  expect(await requested(voidUrl(), reason)).not.toBe(inForce);
  await project.ended(inForce);
});

it.each([1, 3])(
  'corrections of one event are made in the order of their requests: %i processes',
  async (processes) => {
    const ids = [
      await requested(voidUrl(), reason),
      await replaceBy(3),
      await replaceBy(4),
      await requested(voidUrl(), reason),
      await replaceBy(5),
    ];
    await fixture.finish(processes);
    for (const [index, id] of ids.entries())
      expect([index, await project.correction(id)]).toMatchObject([
        index,
        { status: 'applied', events_changed: 1 },
      ]);
    expect(await project.event(eventId)).toMatchObject({
      ...{ status: 'processed', revision: 6 },
      charge_items: [{ quantity: '5' }],
    });
  },
);
