import { describe, expect, it } from 'vitest';
import { ALL, NumericText, SelectedMembers } from '../../kernel/json/json.js';
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
      facts: {
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
      facts: { occurredAt: 7 },
    });
  });

  it('takes the rule set of a single event from its path', () => {
    const body = single('{"source":"s","occurred_at":1,"raw_json":{}}');
    expect(body.envelope(0)).toMatchObject({
      extractorRuleSetId: 'ers_path',
      source: 's',
      facts: { occurredAt: 1 },
    });
  });

  it('reads of raw_json what is selected, without losing a digit', () => {
    const rawJson = '{"x":[1,{"n":2}],"n":12345678901234567890,"u":{"y":0,"t":"\\u0041"}}';
    const body = batch([EVENT]);
    const selection = new SelectedMembers([
      ['n', ALL],
      ['u', new SelectedMembers([['t', ALL]])],
    ]);
    expect(body.rawJson(0, selection)).toEqual({});
    expect(body.rawJson(0, ALL)).toEqual({ a: 1 });
    const many = new EventBody(
      Buffer.from(
        `{"events":[{"raw_json":{"n":1}},{"raw_json":0,"raw_json": ${rawJson} ,"metadata":{"n":3}}]}`,
      ),
      'batch',
      2,
      null,
    );
    expect(many.rawJson(1, selection)).toEqual({ n: new NumericText('12345678901234567890'), u: { t: 'A' } });
    expect(many.rawJson(0, selection)).toEqual({ n: 1 });
  });

  it.each([
    ['in an event', '{"events":[{"raw\\u005fjson":{"a":1,"n":12345678901234567890}}]}'],
    ['in a body', '{"event\\u0073":[{"raw_json":{"a":1,"n":12345678901234567890}}]}'],
    ['in raw_json', '{"events":[{"raw_json":{"\\u0061":1,"n":12345678901234567890}}]}'],
  ])('reads all of raw_json where a name is escaped %s', (_, text) => {
    const body = new EventBody(Buffer.from(text), 'batch', 1, null);
    const expected = { a: 1, n: new NumericText('12345678901234567890') };
    expect(body.rawJson(0, new SelectedMembers([['a', ALL]]))).toEqual(expected);
  });

  it.each(['7', '"t"', 'null', '[{"a":1}]'])('gives raw_json as it is where it is %s', (rawJson) => {
    const body = single(`{"raw_json":${rawJson}}`);
    expect(body.rawJson(0, new SelectedMembers([['a', ALL]]))).toEqual(JSON.parse(rawJson));
  });

  it('keeps the bytes of raw_json as they were sent', () => {
    const rawJson = '{ "n" : 1.10, "n":12345678901234567890, "t":"\\u0041" }';
    const { rawJsonText } = single(`{"raw_json":${rawJson} ,"occurred_at":1}`).envelope(0);
    expect(String(rawJsonText)).toBe(rawJson);
  });

  it.each<['single' | 'batch', string, string[]]>([
    ['single', ' { "source" : "s" , "raw_json" : { "a" : [ 1 ] } , "x" : 1.5e3 } ', ['{ "a" : [ 1 ] }']],
    ['single', '{"raw_json":{"n":1},"raw_json":{"n":2}}', ['{"n":2}']],
    ['single', '{"metadata":{"raw_json":{"no":1}},"raw_json":{"raw_json":3}}', ['{"raw_json":3}']],
    ['single', '{"raw_json":"}\\"é","raw_json2":0,"aw_json":1}', ['"}\\"é"']],
    ['single', '{"raw_json":null}', ['null']],
    ['single', '{"source":"s"}', ['null']],
    ['single', '{"raw_json":{"n":1},"raw\\u005fjson":{"n":2}}', ['{"n":2}']],
    ['batch', '{"events":[{"raw_json":{"a":1}},{"raw_json":{"b":"]"}}]}', ['{"a":1}', '{"b":"]"}']],
    [
      'batch',
      '{"events":[{"raw_json":1}],"x":[],"events":[ {"y":2,"raw_json":3} , {"raw_json":4} ]}',
      ['3', '4'],
    ],
    [
      'batch',
      '{"raw_json":0,"events":[{"raw_json":{"events":[{"raw_json":5}]}}]}',
      ['{"events":[{"raw_json":5}]}'],
    ],
    ['batch', '{"events":1,"events":[{"raw_json":2}]}', ['2']],
    ['batch', '{"events":[{"raw_json":1},{}]}', ['1', 'null']],
    ['batch', '{"events":[{"raw_json":1,"\\u0061":2}]}', ['1']],
    ['batch', '{"event\\u0073":[{"raw_json":1}]}', ['1']],
  ])('finds the raw_json of each event of a %s body %s', (kind, text, expected) => {
    const body = new EventBody(Buffer.from(text), kind, expected.length, null);
    expect(expected.map((_, index) => String(body.envelope(index).rawJsonText))).toEqual(expected);
  });

  it('prints raw_json without losing a digit where its bytes cannot be separated', () => {
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

  it.each<[string, 'single' | 'batch', string, number]>([
    ['not JSON', 'single', '{"a":', 1],
    ['not an object', 'single', '[1]', 1],
    ['null', 'single', 'null', 1],
    ['short of events', 'batch', '{"events":[{}]}', 2],
    ['without events', 'batch', '{}', 1],
    ['of events that are no objects', 'batch', '{"events":[7]}', 1],
  ])('refuses a body that is %s, and still stores all of it', (_, kind, text, eventCount) => {
    const body = new EventBody(Buffer.from(text), kind, eventCount, null);
    expect(() => body.envelope(0)).toThrow();
    expect(body.storedText(0)).toBe(text);
    // The event is rated again, and is still unreadable.
    expect(single(text).storedText(0)).toBe(text);
  });
});
