// The load generator, in a process of its own: hand-written HTTP/1.1 over keep-alive sockets, one request in flight per
// connection, so that as little as possible of the machine goes into generating.
// Started by fork(); takes one plan, sends messages {progress}, then {result}; obeys {pause} and {stop}.
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { batchBody, RequestTemplate, singleBody } from './events.mjs';
import { quantile } from './quantile.mjs';

const PROGRESS_INTERVAL_MS = 100;
/** Pause of one connection after a 429 or 503, and of all while the plan is paused. */
const REFUSED_PAUSE_MS = 50;
const LATENCIES_MAX = 4_000_000;

/**
 * plan: {host, port, kind: 'single'|'batch', targets: [{path, ruleSetId, apiKey}], connections, seconds,
 * eventsPerSecond?, payload?, runId, firstSequence?}. Connections are spread over the targets.
 */
process.once('disconnect', () => process.exit());
process.once('message', (plan) => {
  const run = new Run(plan);
  process.on('message', (order) => {
    if (order.pause !== undefined) run.paused = order.pause;
    if (order.stop) run.endMs = performance.now();
  });
  run.start();
});

class Run {
  constructor(plan) {
    this.plan = plan;
    this.paused = false;
    this.sequence = plan.firstSequence ?? 0;
    this.accepted = 0;
    this.statuses = {};
    this.failures = 0;
    this.latencies = new Float64Array(LATENCIES_MAX);
    this.samples = 0;
    this.open = 0;
    this.tokens = 0;
  }

  start() {
    const { connections, seconds } = this.plan;
    const templates = Array.from({ length: connections }, (_, index) => this.template(index));
    // Not before: large templates take a while.
    this.startMs = performance.now();
    this.endMs = this.startMs + seconds * 1000;
    for (const template of templates) {
      this.open += 1;
      new Connection(this, template).open();
    }
    this.timer = setInterval(() => process.send({ progress: this.totals() }), PROGRESS_INTERVAL_MS);
  }

  template(index) {
    const { targets, kind, runId, host, payload } = this.plan;
    const target = targets[index % targets.length];
    const headers = [
      `Host: ${host}`,
      'Content-Type: application/json',
      `Authorization: Bearer ${target.apiKey}`,
    ];
    const body = kind === 'batch' ? batchBody(runId, target.ruleSetId, payload) : singleBody(index, runId);
    return new RequestTemplate(target.path, headers, body);
  }

  /** Milliseconds until the next request may be sent; 0 is now. Keeps the offered rate of a paced plan. */
  waitMs(events) {
    if (this.paused) return REFUSED_PAUSE_MS;
    const { eventsPerSecond } = this.plan;
    if (eventsPerSecond === undefined) return 0;
    const due = ((performance.now() - this.startMs) / 1000) * eventsPerSecond;
    if (this.tokens + events <= due) {
      this.tokens += events;
      return 0;
    }
    return Math.max(1, ((this.tokens + events - due) / eventsPerSecond) * 1000);
  }

  refusedPauseMs(retryAfterS) {
    if (this.plan.isImpatient || retryAfterS === undefined) return REFUSED_PAUSE_MS;
    return Math.max(0, Math.min(Number(retryAfterS) * 1000, this.endMs - performance.now()));
  }

  answered(status, events, latencyMs) {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
    if (status !== 202) return;
    this.accepted += events;
    if (this.samples < LATENCIES_MAX) this.latencies[this.samples++] = latencyMs;
  }

  closed() {
    this.open -= 1;
    if (this.open > 0) return;
    clearInterval(this.timer);
    const { user, system } = process.cpuUsage();
    const sorted = this.latencies.slice(0, this.samples).sort();
    const at = (share) => quantile(sorted, share) ?? null;
    const latencyMs = { p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max: at(1) };
    const result = {
      ...this.totals(),
      latencyMs,
      nextSequence: this.sequence,
      cpuSeconds: (user + system) / 1e6,
    };
    process.send({ result }, () => process.disconnect());
  }

  totals() {
    const seconds = (performance.now() - this.startMs) / 1000;
    return { seconds, accepted: this.accepted, statuses: { ...this.statuses }, failures: this.failures };
  }
}

class Connection {
  constructor(run, template) {
    this.run = run;
    this.template = template;
    this.pending = '';
    /** The request that was refused, for another try. */
    this.refused = undefined;
  }

  open() {
    const { host, port } = this.run.plan;
    this.pending = '';
    this.sentMs = undefined;
    this.socket = connect({ host, port, noDelay: true });
    this.socket.once('connect', () => this.next());
    this.socket.on('data', (chunk) => this.received(chunk));
    this.socket.on('error', () => {});
    this.socket.once('close', () => this.lost());
  }

  lost() {
    if (this.sentMs !== undefined) this.run.failures += 1;
    if (performance.now() >= this.run.endMs) this.run.closed();
    else setTimeout(() => this.open(), REFUSED_PAUSE_MS);
  }

  next() {
    if (performance.now() >= this.run.endMs) {
      this.socket.end();
      this.socket.destroy();
      return;
    }
    const waitMs = this.run.waitMs(this.template.events);
    if (waitMs > 0) setTimeout(() => this.next(), Math.min(waitMs, REFUSED_PAUSE_MS));
    else this.send();
  }

  send() {
    this.sentMs = performance.now();
    this.socket.write(this.refused ?? this.newRequest());
  }

  newRequest() {
    const request = this.template.stamp(this.run.sequence, Math.floor(Date.now() / 1000));
    this.run.sequence += this.template.events;
    return request;
  }

  received(chunk) {
    this.pending = this.pending === '' ? chunk.latin1Slice() : this.pending + chunk.latin1Slice();
    const headEnd = this.pending.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const length = /\r\ncontent-length: *(\d+)/i.exec(this.pending)?.[1];
    if (length === undefined) throw new Error(`no Content-Length in: ${this.pending.slice(0, headEnd)}`);
    if (this.pending.length < headEnd + 4 + Number(length)) return;
    const status = Number(this.pending.slice(9, 12));
    const retryAfterS = /\r\nretry-after: *(\d+)/i.exec(this.pending.slice(0, headEnd))?.[1];
    const latencyMs = performance.now() - this.sentMs;
    if (status >= 400 && status !== 503 && status !== 429) {
      process.send({ refused: this.pending.slice(headEnd + 4, headEnd + 600) });
    }
    this.pending = '';
    this.sentMs = undefined;
    this.run.answered(status, this.template.events, latencyMs);
    // Refused requests are sent again unchanged, as clients do, so that the load generator needs no CPU for new ones.
    this.refused = status === 202 ? undefined : this.template.buffer;
    if (status === 202) this.next();
    else setTimeout(() => this.next(), this.run.refusedPauseMs(retryAfterS));
  }
}
