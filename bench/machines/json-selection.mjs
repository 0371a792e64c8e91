// JSON selection: rating builds only the paths of `raw_json` that rules name. Off: it builds all of it.
import { ALL } from '../../packages/service/dist/kernel/json/json.js';
import { EventBody } from '../../packages/service/dist/modules/pipeline/event.js';
import { compileExtractor } from '../../packages/service/dist/modules/rules/extract/index.js';
import { priceListOf } from '../../packages/service/dist/modules/rules/pricing/index.js';
import { rateEvent } from '../../packages/service/dist/modules/rules/rate.js';
import { batchBody, RULE_SET } from '../events.mjs';
import { inTurns, ownCpuPerEvent } from './measure.mjs';
import { PAYLOADS } from './payloads.mjs';

const ROUND_MS = 200;

const { name: _name, effective_from: _from, ...CONFIG } = RULE_SET;
const { extractor } = compileExtractor(CONFIG);
const RULES = { extractor, prices: priceListOf([]), costs: priceListOf([]) };

/** @returns µs of a rated event with and without selection, by payload */
export async function measureJsonSelection(rounds) {
  const measured = {};
  for (const [name, payload] of Object.entries(PAYLOADS)) {
    const bytes = Buffer.from(batchBody('run', 'ers_bench', payload));
    const rated = (selection) => () => ownCpuPerEvent(() => rateAgain(bytes, payload.batchEvents, selection));
    measured[name] = await inTurns({ on: rated(extractor.reads), off: rated(ALL) }, rounds);
  }
  return measured;
}

function rateAgain(bytes, eventCount, selection) {
  const startMs = performance.now();
  let events = 0;
  while (performance.now() - startMs < ROUND_MS) {
    const body = new EventBody(bytes, 'batch', eventCount, null);
    for (let index = 0; index < eventCount; index += 1) {
      const { facts } = body.envelope(index);
      const rated = rateEvent(RULES, { ...facts, rawJson: body.rawJson(index, selection) });
      if (!rated.ok) throw new Error(rated.failure.message);
    }
    events += eventCount;
  }
  return events;
}
