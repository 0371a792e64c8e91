// How much one tenant's rules tests and saves slow down the ingest of another, on the service as it is shipped.
//
//     node bench/rules-tests.mjs [atOnce=8] [seconds=10] [rounds=2] [rate=300]
//
// One tenant sends `rate` single events a second: alone, then beside `atOnce` rules tests of another tenant, then
// beside as many saves of a draft, in turns. Each test and save has a megabyte of pricing rules, and the next one
// follows its response. Prints p50 and p99 of ingest, and their ratios to those alone; the aim is 2 at most. Needs a
// build, and the machine to itself.
import { performance } from 'node:perf_hooks';
import { readOptions } from './options.mjs';
import { generateLoad } from './processes.mjs';
import { quantile } from './quantile.mjs';
import { BenchService } from './service.mjs';

const options = readOptions({ atOnce: 8, seconds: 10, rounds: 2, rate: 300 });
const CONNECTIONS = 16;
const RULES = 500;
/** Length of each of the two expressions of a rule; all rules together are a little under a megabyte. */
const EXPRESSION_CHARS = 950;

const service = await BenchService.start();
try {
  const [project] = await service.createProjects(1);
  const [other] = await service.createProjects(1);
  const { id: draft } = await service.ask('POST', rulesOf(other), { extractor_rule_set_id: other.ruleSetId });
  const kinds = {
    tests: ['POST', `/v1/projects/${other.id}/rules/test`, testBody()],
    saves: [
      'PUT',
      `${rulesOf(other)}/${draft}`,
      { extractor_rule_set_id: other.ruleSetId, rules: pricingRules() },
    ],
  };
  await ingest(project, 'warm-up');
  const measured = { alone: [], tests: [], saves: [] };
  for (let round = 0; round < options.rounds; round += 1) {
    measured.alone.push(await ingest(project, `alone${round}`));
    for (const [kind, request] of Object.entries(kinds)) {
      const stop = new AbortController();
      const asking = Array.from({ length: options.atOnce }, () => askAgain(request, stop.signal));
      measured[kind].push(await ingest(project, `${kind}${round}`));
      stop.abort();
      report(kind, (await Promise.all(asking)).flat());
    }
  }
  for (const kind of Object.keys(kinds)) {
    const ratio = (share) => (least(measured[kind], share) / least(measured.alone, share)).toFixed(2);
    console.log(
      `ingest beside ${options.atOnce} ${kind}, to that alone: p50 ${ratio('p50')}, p99 ${ratio('p99')}`,
    );
  }
} finally {
  await service.stop();
  service.removeData();
}

function rulesOf({ id }) {
  return `/v1/projects/${id}/pricing-rule-sets`;
}

function testBody() {
  return {
    extractor: { charge_item_extractors: [{ metric: 'llm.tokens', path: 'tokens', type: 'number' }] },
    pricing: { rules: pricingRules() },
    event: { raw_json: { tokens: 5 } },
  };
}

/** Different expressions throughout, so that none is compiled only once. */
function pricingRules() {
  return Array.from({ length: RULES }, (_, at) => ({
    name: `rule ${at}`,
    metric: 'llm.tokens',
    match_expr: grown(
      `dimensions.model == "m${at}"`,
      (text, n) => `${text} || dimensions.model == "m${at}x${n}"`,
    ),
    unit_price_expr: grown('dec("0.1")', (text, n) => `dec_add(${text}, dec("0.${n}${at}"))`),
  }));
}

function grown(start, grow) {
  let text = start;
  for (let n = 1; ; n += 1) {
    const next = grow(text, n);
    if (next.length > EXPRESSION_CHARS) return text;
    text = next;
  }
}

/** Single events at a fixed rate. */
async function ingest({ id, ruleSetId, apiKey }, runId) {
  const { latencyMs, statuses } = await generateLoad({
    ...service.address,
    kind: 'single',
    targets: [
      { path: `/v1/projects/${id}/extractor-rule-sets/${ruleSetId}/events/ingest`, ruleSetId, apiKey },
    ],
    connections: CONNECTIONS,
    seconds: options.seconds,
    eventsPerSecond: options.rate,
    runId,
  });
  const { p50, p99 } = latencyMs;
  console.log(
    `  ingest, ${runId}: p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms, ${JSON.stringify(statuses)}`,
  );
  return latencyMs;
}

/** The same request again and again; how long each took. */
async function askAgain(request, signal) {
  const timesMs = [];
  while (!signal.aborted) {
    const startMs = performance.now();
    await service.ask(...request);
    timesMs.push(performance.now() - startMs);
  }
  return timesMs;
}

function report(kind, timesMs) {
  timesMs.sort((a, b) => a - b);
  const at = (share) => quantile(timesMs, share).toFixed(0);
  console.log(`  ${kind}: ${timesMs.length} answered, p50 ${at(0.5)}, p99 ${at(0.99)} ms`);
}

/** The minimum over the rounds, which other programs on the machine disturb least. */
function least(rounds, share) {
  return Math.min(...rounds.map((latencyMs) => latencyMs[share]));
}
