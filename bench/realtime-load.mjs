// The generator of requests, in a process of its own: an open loop of requests over keep-alive
// connections, so that a slow response does not hold back the next request, or, without a rate, as many at once
// as there are connections. Started by fork(); takes one plan {address, apiKey?, requests: [{method, path,
// body}], perSecond?, seconds, connections}, sends {result: {latencies, statuses}}.
import { Agent, request } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';

process.once('disconnect', () => process.exit());
process.once('message', async (plan) => {
  process.send({ result: await generate(plan) }, () => process.disconnect());
});

async function generate(plan) {
  const agent = new Agent({ keepAlive: true, maxSockets: plan.connections });
  const seen = { latencies: [], statuses: {} };
  const endMs = performance.now() + plan.seconds * 1_000;
  await (plan.perSecond === undefined
    ? closedLoop(plan, agent, seen, endMs)
    : openLoop(plan, agent, seen, endMs));
  agent.destroy();
  return seen;
}

async function closedLoop(plan, agent, seen, endMs) {
  let sequence = 0;
  const client = async () => {
    while (performance.now() < endMs) await send(plan, agent, seen, sequence++);
  };
  await Promise.all(Array.from({ length: plan.connections }, client));
}

async function openLoop(plan, agent, seen, endMs) {
  const pending = [];
  const startMs = performance.now();
  for (let sequence = 0; performance.now() < endMs; ) {
    const due = ((performance.now() - startMs) / 1_000) * plan.perSecond;
    while (sequence < due) pending.push(send(plan, agent, seen, sequence++));
    await delay(1);
  }
  await Promise.all(pending);
}

function send({ address, apiKey, requests }, agent, seen, sequence) {
  const { method, path, body } = requests[sequence % requests.length];
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    ...(apiKey && { authorization: `Bearer ${apiKey}` }),
    ...(text && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
  };
  const startMs = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request({ ...address, agent, method, path, headers }, (response) => {
      response.resume();
      response.once('end', () => {
        seen.latencies.push(performance.now() - startMs);
        seen.statuses[response.statusCode] = (seen.statuses[response.statusCode] ?? 0) + 1;
        resolve();
      });
    });
    sent.once('error', reject);
    sent.end(text);
  });
}
