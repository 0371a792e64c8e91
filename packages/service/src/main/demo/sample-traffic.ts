import { SAMPLE_MODELS } from './sample-rules.js';

const REGIONS = ['us-east-1', 'eu-west-1', 'ap-south-1'] as const;
const CUSTOMERS = 40;
/** How often a sample event lacks its model, so that the failed events are not an empty list. */
const BROKEN_EVENT_EVERY = 2_000;

/** A small deterministic generator of numbers in [0, 1): mulberry32, by Tommy Ettinger (public domain). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Log-normal token counts: most calls are small, a few are very large. */
function tokenCount(random: () => number, median: number, spread: number): number {
  const gaussian = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Math.max(1, Math.round(median * Math.exp(spread * gaussian)));
}

function skewed<T>(items: readonly T[], random: () => number): T {
  const item = items[Math.floor(items.length * random() ** 2)];
  if (item === undefined) throw new Error('nothing to choose from');
  return item;
}

/** One LLM call as a gateway would report it; cached input tokens are counted separately from fresh ones. */
export function sampleCall(sequence: number, random: () => number): Record<string, unknown> {
  const inputTokens = tokenCount(random, 900, 1);
  const cachedTokens = random() < 0.4 ? Math.floor(inputTokens * random()) : 0;
  const call = {
    id: `call_${sequence}`,
    model: skewed(SAMPLE_MODELS, random),
    region: skewed(REGIONS, random),
    customer: `cust_${String(1 + Math.floor(CUSTOMERS * random() ** 2)).padStart(3, '0')}`,
    usage: {
      input_tokens: inputTokens - cachedTokens,
      cache_read_input_tokens: cachedTokens,
      output_tokens: tokenCount(random, 180, 0.9),
    },
  };
  if (sequence % BROKEN_EVENT_EVERY !== BROKEN_EVENT_EVERY - 1) return call;
  const { model: _model, ...broken } = call;
  return broken;
}

/** Calls per second at the busiest hour, on average. */
const CALLS_PER_SECOND = 0.5;

/** Number of calls in a second, in history and live traffic: random, around the average for the time of day. */
export function callsInSecond(unixSeconds: number, random: () => number): number {
  // The number of events of a Poisson process, by Knuth's multiplication of uniform numbers.
  const limit = Math.exp(-CALLS_PER_SECOND * dailyRhythm(unixSeconds));
  let calls = 0;
  for (let product = random(); product > limit; product *= random()) calls += 1;
  return calls;
}

/** Calls per second at an hour of the day, as a share of the busiest: quiet at night, busy in the afternoon. */
export function dailyRhythm(unixSeconds: number): number {
  const hour = (unixSeconds % 86_400) / 3_600;
  return 0.35 + 0.65 * Math.max(0, Math.sin(((hour - 5) / 24) * 2 * Math.PI)) ** 1.2;
}
