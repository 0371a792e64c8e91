// The generator of requests, in a process of its own: an open loop of requests over keep-alive connections, so that a
// slow response does not hold back the next request, or, without a rate, as many at once as there are connections.
// Hand-written HTTP/1.1 on sockets: Node's client needs more of the processors for a request than most services here.
// Started by fork(); takes one plan {address, apiKey?, requests: [{method, path, body}], perSecond?, seconds,
// connections}, sends {result: {latencies, statuses}}.
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';

process.once('disconnect', () => process.exit());
process.once('message', async (plan) => {
  process.send({ result: await generate(plan) }, () => process.disconnect());
});

async function generate(plan) {
  const requests = plan.requests.map((request) => bytesOf(plan, request));
  const seen = { latencies: [], statuses: {} };
  const endMs = performance.now() + plan.seconds * 1_000;
  const connections = Array.from({ length: plan.connections }, () => new Connection(plan.address));
  await (plan.perSecond === undefined
    ? closedLoop(connections, requests, seen, endMs)
    : openLoop(connections, requests, seen, endMs, plan.perSecond));
  for (const connection of connections) connection.close();
  return seen;
}

function bytesOf({ address, apiKey }, { method, path, body }) {
  const text = body === undefined ? '' : JSON.stringify(body);
  const head = [
    `${method} ${path} HTTP/1.1`,
    ...(apiKey ? [`Authorization: Bearer ${apiKey}`] : []),
    ...(text && ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`]),
    `Host: ${address.host}:${address.port}`,
    'Connection: keep-alive',
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${text}`);
}

async function closedLoop(connections, requests, seen, endMs) {
  let sequence = 0;
  const client = async (connection) => {
    while (performance.now() < endMs)
      await send(connection, requests[sequence++ % requests.length], seen, performance.now());
  };
  await Promise.all(connections.map(client));
}

/** The latency of a request that waits for a connection includes the wait. */
async function openLoop(connections, requests, seen, endMs, perSecond) {
  const free = [...connections];
  const waiting = [];
  const pending = [];
  const startMs = performance.now();
  const run = async (connection, first) => {
    for (let next = first; next !== undefined; next = waiting.shift())
      await send(connection, next.bytes, seen, next.sinceMs);
    free.push(connection);
  };
  for (let sequence = 0; performance.now() < endMs; ) {
    const due = ((performance.now() - startMs) / 1_000) * perSecond;
    for (; sequence < due; sequence += 1) {
      const next = { bytes: requests[sequence % requests.length], sinceMs: performance.now() };
      const connection = free.pop();
      if (connection === undefined) waiting.push(next);
      else pending.push(run(connection, next));
    }
    await delay(1);
  }
  await Promise.all(pending);
}

async function send(connection, bytes, seen, sinceMs) {
  const status = await connection.send(bytes);
  seen.latencies.push(performance.now() - sinceMs);
  seen.statuses[status] = (seen.statuses[status] ?? 0) + 1;
}

/** A keep-alive connection with at most one request on it. */
class Connection {
  #socket;
  #received = '';
  #waiting;

  constructor(address) {
    this.#socket = connect({ ...address, noDelay: true });
    this.#socket.on('data', (chunk) => this.#onData(chunk));
    this.#socket.on('error', () => {});
    this.#socket.once('close', () => this.#waiting?.reject(new Error('the service closed a connection')));
  }

  /** Returns the status of the response. */
  send(bytes) {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      if (this.#socket.destroyed) reject(new Error('the service closed a connection'));
      else this.#socket.write(bytes);
    });
  }

  close() {
    this.#socket.destroy();
  }

  #onData(chunk) {
    this.#received += chunk.latin1Slice();
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.#received)?.[1];
    if (length === undefined) throw new Error(`no Content-Length in: ${this.#received.slice(0, headEnd)}`);
    if (this.#received.length < headEnd + 4 + Number(length)) return;
    const status = this.#received.slice(9, 12);
    const { resolve } = this.#waiting;
    this.#received = '';
    this.#waiting = undefined;
    resolve(status);
  }
}
