import { describe, expect, it } from 'vitest';
import { EventBody } from './event.js';

function batch(
  events: readonly unknown[],
  fields: Record<string, unknown> = { source: 'gateway' },
): EventBody {
  return new EventBody(Buffer.from(JSON.stringify({ ...fields, events })), 'batch', events.length, null);
}

function single(text: string, ruleSetId: string | null = 'ers_path'): EventBody {
  return new EventBody(Buffer.from(text), 'single', 1, ruleSetId);
}

const EVENT = { extractor_rule_set_id: 'ers_1', occurred_at: 7, idempotency_key: 'k', raw_json: { a: 1 } };

describe('EventBody', () => {
  it('reads every field of a batch item', () => {
    const event = {
      ...EVENT,
      source: 'own',
      external_event_id: 'x',
      subject_type: 'user',
      subject_id: 'u',
      'x-billing': { items: [{ metric: 'm', quantity: '1.5' }] },
      'x-usage-control': { budget_lease_id: 'bl_1' },
      metadata: { m: [1] },
    };
    const envelope = batch([event]).envelope(0);
    expect({ ...envelope, rawJsonText: String(envelope.rawJsonText) }).toEqual({
      extractorRuleSetId: 'ers_1',
      source: 'own',
      externalEventId: 'x',
      idempotencyKey: 'k',
      budgetLeaseId: 'bl_1',
      input: {
        rawJson: { a: 1 },
        occurredAt: 7,
        subject: { type: 'user', id: 'u' },
        billing: { items: [{ metric: 'm', quantity: '1.5' }] },
      },
      rawJsonText: '{"a":1}',
      metadata: '{"m":[1]}',
      xBilling: '{"items":[{"metric":"m","quantity":"1.5"}]}',
    });
  });

  it('leaves absent fields empty, and takes the source of the batch', () => {
    expect(batch([EVENT]).envelope(0)).toMatchObject({
      source: 'gateway',
      externalEventId: '',
      budgetLeaseId: '',
      metadata: '',
      xBilling: '',
      input: { rawJson: { a: 1 }, occurredAt: 7 },
    });
  });

  it('takes the rule set of a single event from its path', () => {
    const body = single('{"source":"s","occurred_at":1,"raw_json":{}}');
    expect(body.envelope(0)).toMatchObject({
      extractorRuleSetId: 'ers_path',
      source: 's',
      input: { occurredAt: 1 },
    });
  });

  it('keeps the bytes of raw_json as they were sent', () => {
    const rawJson = '{ "n" : 1.10, "n":12345678901234567890, "t":"\\u0041" }';
    const { rawJsonText } = single(`{"raw_json":${rawJson} ,"occurred_at":1}`).envelope(0);
    expect(String(rawJsonText)).toBe(rawJson);
  });

  it('prints raw_json without losing a digit where its bytes cannot be told apart', () => {
    const { rawJsonText } = single('{"raw\\u005fjson":{"n":12345678901234567890}}').envelope(0);
    expect(rawJsonText).toBe('{"n":12345678901234567890}');
  });

  it('stores an event as a single body that reads the same', () => {
    const metadata = { price: 0.1, __proto__: null };
    const body = batch([EVENT, { ...EVENT, metadata, raw_json: { b: 'é\u0000' } }]);
    const again = single(body.storedText(1), 'ers_1').envelope(0);
    const before = body.envelope(1);
    expect({ ...again, rawJsonText: String(again.rawJsonText) }).toEqual({
      ...before,
      rawJsonText: String(before.rawJsonText),
    });
  });

  it.each<[string, EventBody]>([
    ['not JSON', single('{"a":')],
    ['not an object', single('[1]')],
    ['null', single('null')],
    ['short of events', new EventBody(Buffer.from('{"events":[{}]}'), 'batch', 2, null)],
    ['without events', new EventBody(Buffer.from('{}'), 'batch', 1, null)],
    ['of events that are no objects', batch([7])],
  ])('refuses a body that is %s, and still stores its events', (_, body) => {
    expect(() => body.envelope(0)).toThrow();
    expect(typeof body.storedText(0)).toBe('string');
  });
});
