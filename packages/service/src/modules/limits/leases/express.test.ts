import { afterAll, beforeAll, expect, it } from 'vitest';
import { type BothWays, listenBothWays, postBytes, sameAnswer, Wire } from '../../../testing/both-ways.js';
import { makeLimit, type TestLimits } from '../check/realtime.testing.js';
import { LeaseCalls } from './lease-calls.testing.js';

const ID = /bl_[0-9a-f]{32}/g;

let calls: LeaseCalls;
let api: TestLimits;
let ways: BothWays;
/** Number of requests to the application's own port that the lane left to Node. */
let leftToNode = 0;

beforeAll(async () => {
  calls = await LeaseCalls.start();
  api = calls.api;
  ways = await listenBothWays(api.app);
  api.app.server.on('request', () => {
    leftToNode += 1;
  });
});
afterAll(async () => {
  await ways.close();
  await api.close();
});

function bytesOf(path: string, body?: object, headers: Readonly<Record<string, string>> = {}): Buffer {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const all = { authorization: `Bearer ${api.serviceKey}`, ...type, ...headers };
  return postBytes(`${api.url}/budget-leases${path}`, all, body === undefined ? '' : JSON.stringify(body));
}

const ask = (subjectId: string, amount: string, headers: Readonly<Record<string, string>> = {}) =>
  bytesOf(
    '',
    { subject_type: 'user', subject_id: subjectId, amount, currency: 'USD', ttl_seconds: 60 },
    headers,
  );

async function makeSubject(limit: string): Promise<string> {
  const { subjectId, route } = await calls.makeSubject();
  await makeLimit(api, route, { key: subjectId, amount: limit });
  return subjectId;
}

/** Sends requests one after the other on one connection; each may name the lease of the first response. */
async function exchange(port: number, requests: readonly ((id: string) => Buffer)[]) {
  const wire = await Wire.open(port);
  const answers: string[] = [];
  let id = '';
  for (const request of requests) {
    await wire.write(request(id));
    const answer = await wire.answer();
    id ||= answer?.body.match(ID)?.[0] ?? '';
    answers.push(`${answer?.head}${answer?.body.replaceAll(ID, 'bl')}`);
  }
  wire.socket.destroy();
  return answers;
}

it('grants, renews and closes a lease on one connection, as Fastify does', async () => {
  const subjectId = await makeSubject('10');
  const requests = [
    () => ask(subjectId, '1.5'),
    (id: string) => bytesOf(`/${id}/renew`, { ttl_seconds: 90 }),
    (id: string) => bytesOf(`/${id}/close`),
  ];
  const before = leftToNode;
  const answers = await exchange(ways.express, requests);
  expect(leftToNode).toBe(before);
  expect(answers.map((text) => text.slice(0, 12))).toEqual(['HTTP/1.1 201', 'HTTP/1.1 200', 'HTTP/1.1 200']);
  expect(await exchange(ways.fastify, requests)).toEqual(answers);
  expect(await calls.reservedOf(subjectId)).toEqual([[`racl_${subjectId}`, '0']]);
});

it('returns the same lease for the same Idempotency-Key, whichever way', async () => {
  const subjectId = await makeSubject('10');
  const before = leftToNode;
  const key = { 'idempotency-key': 'both' };
  expect((await sameAnswer(ways, ask(subjectId, '4', key))).status).toBe(201);
  expect((await sameAnswer(ways, ask(subjectId, '5', key))).status).toBe(409);
  expect(leftToNode).toBe(before);
  expect(await calls.reservedOf(subjectId)).toEqual([[`racl_${subjectId}`, '4']]);
});

it.each<[string, (full: string) => Buffer, number]>([
  ['a lease without room', (full) => ask(full, '2'), 409],
  ['a lease that holds nothing', (full) => ask(full, '0'), 400],
  ['a lease without an amount', (full) => bytesOf('', { subject_type: 'user', subject_id: full }), 400],
  ['an empty key', (full) => ask(full, '1', { 'idempotency-key': '' }), 400],
  ['the end of a lease that is not there', () => bytesOf('/bl_none/close'), 404],
  ['the end of a lease, with a body', () => bytesOf('/bl_none/close', { id: 1 }), 400],
])('refuses %s both ways alike', async (_what, bytes, status) => {
  const full = await makeSubject('1');
  expect((await sameAnswer(ways, bytes(full))).status).toBe(status);
});
