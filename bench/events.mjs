// The load: LLM usage events of about 600 bytes with two dimensions and two charge items, from 10,000 subjects.

export const SUBJECTS = 10_000;
export const EVENT_BYTES = 600;
export const BATCH_EVENTS = 500;

const MODELS = ['aurora-large', 'aurora-small', 'boreal-mini', 'cirrus-pro'];
const REGIONS = ['eu-central', 'us-east', 'ap-south'];

/** The rule set that rates these events: two dimensions, two priced charge items. */
export const RULE_SET = {
  name: 'Benchmark',
  // Long ago, so that every event of the run has a price.
  effective_from: 1,
  subject: { default_type: 'user', id_path: 'user', required: true },
  dimensions: [
    { name: 'model', path: 'model', type: 'string', required: true },
    { name: 'region', path: 'region', type: 'string' },
  ],
  charge_item_extractors: [
    item('input', 'llm.input_tokens', 'usage.prompt_tokens', '0.0000025'),
    item('output', 'llm.output_tokens', 'usage.completion_tokens', '0.00001'),
  ],
};

function item(name, metric, path, price) {
  return {
    name,
    metric,
    path,
    type: 'number',
    unit: 'token',
    currency: 'USD',
    unit_price_expr: `dec("${price}")`,
    amount_expr: 'dec_mul(item.quantity, item.unit_price)',
  };
}

const TIERS = '[[10000, "0.00001"], [100000, "0.000005"], [null, "0.0000025"]]';

/** Returns a rule set with graduated tiers of each subject's month in place of a price per unit. */
export function pricedByTotal(ruleSet) {
  const priced = ruleSet.charge_item_extractors.map(
    ({ unit_price_expr: _price, amount_expr: _amount, ...rest }) => ({
      ...rest,
      cumulative: { counter: rest.name, period: 'month', per: 'subject' },
      total_expr: `tier_graduated(total.quantity, ${TIERS})`,
    }),
  );
  return { ...ruleSet, charge_item_extractors: priced };
}

// Values that change from send to send have a fixed width, so that a request is one buffer with a few digits
// overwritten.
const SEQUENCE_WIDTH = 12;
const TIME_WIDTH = 10;
const SUBJECT_WIDTH = 5;
const SEQUENCE_MARK = 'S'.repeat(SEQUENCE_WIDTH);
const TIME_MARK = '1'.repeat(TIME_WIDTH);
const SUBJECT_MARK = 'U'.repeat(SUBJECT_WIDTH);

/** How an event is filled up to its size: by one long string, by prose with escapes, or by many small values. */
const FILLERS = {
  string: (bytes) => 'x'.repeat(bytes),
  prose: (bytes) => Array.from({ length: Math.round(bytes / 98) }, () => PROSE),
  values: (bytes) => Array.from({ length: Math.round(bytes / 88) }, (_, index) => ({ ...TOKEN, index })),
};
const PROSE = 'The model said: "a quick brown fox",\nand explained at some length why that is - and why not.';
const TOKEN = { token: ' fox', logprob: -0.1234567, bytes: [32, 102, 111, 120], is_end: false };

/** The default payload. */
export const PAYLOAD = { bytes: EVENT_BYTES, filler: 'string', batchEvents: BATCH_EVENTS };

/** JSON text of an event; `index` chooses model, region and sizes. `batchFields` are those of a batch item. */
function eventText(index, runId, batchFields, { bytes, filler } = PAYLOAD) {
  const prompt = 100 + ((index * 7_919) % 3_900);
  const completion = 10 + ((index * 104_729) % 990);
  const event = {
    ...batchFields,
    idempotency_key: `${runId}-${SEQUENCE_MARK}`,
    occurred_at: Number(TIME_MARK),
    raw_json: {
      id: `chatcmpl-${SEQUENCE_MARK}`,
      object: 'chat.completion',
      model: MODELS[index % MODELS.length],
      region: REGIONS[index % REGIONS.length],
      user: `user-${SUBJECT_MARK}`,
      usage: {
        prompt_tokens: prompt,
        completion_tokens: completion,
        total_tokens: prompt + completion,
        prompt_tokens_details: { cached_tokens: prompt >> 2, audio_tokens: 0 },
      },
      service_tier: 'default',
      latency_ms: 400 + (index % 1_000),
      finish_reason: 'stop',
      trace: '',
    },
  };
  event.raw_json.trace = FILLERS[filler](Math.max(0, bytes - JSON.stringify(event).length));
  return JSON.stringify(event);
}

/** Body of a single ingest. */
export function singleBody(index, runId) {
  return eventText(index, runId, { source: 'bench' });
}

/** Body of a batch ingest for one rule set. */
export function batchBody(runId, ruleSetId, payload = PAYLOAD) {
  const events = Array.from({ length: payload.batchEvents }, (_, index) =>
    eventText(index, runId, { extractor_rule_set_id: ruleSetId }, payload),
  );
  return `{"source":"bench","events":[${events.join(',')}]}`;
}

/** A request whose events become new ones by overwriting digits in place. */
export class RequestTemplate {
  constructor(path, headers, body) {
    const head = [`POST ${path} HTTP/1.1`, ...headers, `Content-Length: ${Buffer.byteLength(body)}`, '', ''];
    this.buffer = Buffer.from(head.join('\r\n') + body, 'latin1');
    this.sequenceAt = offsetsOf(this.buffer, SEQUENCE_MARK);
    this.timeAt = offsetsOf(this.buffer, TIME_MARK);
    this.subjectAt = offsetsOf(this.buffer, SUBJECT_MARK);
    this.events = this.timeAt.length;
  }

  /** Makes the events number `sequence` and following, happening at `unixSeconds`. */
  stamp(sequence, unixSeconds) {
    const perEvent = this.sequenceAt.length / this.events;
    const time = String(unixSeconds);
    for (let event = 0; event < this.events; event += 1) {
      const text = String(sequence + event).padStart(SEQUENCE_WIDTH, '0');
      const subject = String(((sequence + event) * 31) % SUBJECTS).padStart(SUBJECT_WIDTH, '0');
      for (let at = event * perEvent; at < (event + 1) * perEvent; at += 1) {
        this.buffer.latin1Write(text, this.sequenceAt[at]);
      }
      this.buffer.latin1Write(time, this.timeAt[event]);
      this.buffer.latin1Write(subject, this.subjectAt[event]);
    }
    return this.buffer;
  }
}

function offsetsOf(buffer, mark) {
  const offsets = [];
  for (let at = buffer.indexOf(mark); at >= 0; at = buffer.indexOf(mark, at + mark.length)) offsets.push(at);
  return offsets;
}
