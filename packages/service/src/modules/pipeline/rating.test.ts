import { describe, expect, it } from 'vitest';
import { rawEventHex } from '../../kernel/id.js';
import { ALL, SelectedMembers } from '../../kernel/json/json.js';
import { NOT_POSTED } from '../limits/index.js';
import type { RatingInput, RatingNote, RuleSetRef, RuleVersion } from '../rules/index.js';
import { rowOf } from './encoding.js';
import { EventBody, type EventGroup } from './event.js';
import { BatchRules, type RuleVersionSource, rateBatchEvent, readEnvelope } from './rating.js';

const OCCURRED_AT = 1_750_000_000;

const NOTE: RatingNote = { code: 'quantity_kept', metric: 'm', path: 'p', message: 'kept' };

/** Returns the rating input of an event with these fields, and its row. */
function outcomeOf(fields: object, notes: readonly RatingNote[] = []) {
  const event = { occurred_at: OCCURRED_AT, raw_json: { a: 1, unread: 2 }, ...fields };
  const idHex = rawEventHex('ten_1', 'prj_1', OCCURRED_AT, 'k');
  const accepted = { projectNo: 1, idHex, index: 0 };
  const group: EventGroup = {
    tenantId: 'ten_1',
    projectId: 'prj_1',
    projectNo: 1,
    storage: 'shared',
    receivedAtMs: OCCURRED_AT * 1_000,
    attempt: 0,
    corrections: 0,
    correctionId: '',
    ids: Buffer.from(idHex, 'hex'),
    body: new EventBody(Buffer.from(JSON.stringify(event)), 'single', 1, 'ers_1'),
    events: [accepted],
  };
  let asked: RatingInput | undefined;
  const version: RuleVersion = {
    version: 1,
    reads: new SelectedMembers([['a', ALL]]),
    rate: (input) => {
      asked = input;
      return { ok: true, dimensions: new Map(), items: [], notes };
    },
  };
  const onDefect = (error: unknown) => {
    throw error;
  };
  const envelope = readEnvelope(group, accepted, onDefect);
  const rated = rateBatchEvent(group, accepted, envelope, version, onDefect);
  return { asked, row: rowOf(group, accepted, rated, NOT_POSTED, [], 0) };
}

const inputOf = (fields: object) => outcomeOf(fields).asked;

it('keeps what was noted with the event, and nothing where there is nothing', () => {
  expect(JSON.parse(outcomeOf({}, [NOTE]).row.notes)).toEqual([NOTE]);
  expect(outcomeOf({}).row.notes).toBe('');
});

it('rates by all that was sent: subject, time, raw JSON and x-billing', () => {
  const billing = {
    items: [{ metric: 'calls', quantity: '2', unit: 'call' }],
    pricing_hints: { calls: { unit_price: '0.1' } },
    discount_hints: { calls: { percent: 10 } },
  };
  expect(inputOf({ subject_type: 'user', subject_id: 'u1', 'x-billing': billing })).toEqual({
    rawJson: { a: 1 },
    occurredAt: OCCURRED_AT,
    subject: { type: 'user', id: 'u1' },
    billing,
  });
});

it('leaves the subject to the rules where none was sent', () => {
  expect(inputOf({})).toEqual({ rawJson: { a: 1 }, occurredAt: OCCURRED_AT });
});

const VERSION: RuleVersion = {
  version: 1,
  reads: ALL,
  rate: () => ({ ok: true, dimensions: new Map(), items: [], notes: [] }),
};

/** Has the rule sets `a` and `b` for every project; reading `b` takes a while. */
class FakeCatalog implements RuleVersionSource {
  readonly refreshes: string[][] = [];

  async refresh(refs: readonly RuleSetRef[]) {
    this.refreshes.push(refs.map(({ projectId, ruleSetId }) => `${projectId}/${ruleSetId}`));
    return refs
      .filter(({ ruleSetId }) => ruleSetId !== 'unknown')
      .map((ref) => ({
        ...ref,
        rules: { at: () => (ref.ruleSetId === 'b' ? Promise.resolve(VERSION) : VERSION) },
      }));
  }
}

describe('BatchRules', () => {
  it('brings a rule set up to date once per batch, and one that does not exist as well', async () => {
    const catalog = new FakeCatalog();
    const rules = new BatchRules(catalog);
    await rules.prepare('prj_1', new Set(['a', 'b', 'unknown']));
    await rules.prepare('prj_1', new Set(['a', 'unknown']));
    await rules.prepare('prj_2', new Set(['a']));
    expect(catalog.refreshes).toEqual([['prj_1/a', 'prj_1/b', 'prj_1/unknown'], ['prj_2/a']]);
  });

  it('names the version at once, later, or none', async () => {
    const rules = new BatchRules(new FakeCatalog());
    await rules.prepare('prj_1', new Set(['a', 'b', 'unknown']));
    expect(rules.at('prj_1', 'a', 0)).toBe(VERSION);
    expect(rules.at('prj_1', 'b', 0)).toBeInstanceOf(Promise);
    expect(await rules.at('prj_1', 'b', 0)).toBe(VERSION);
    expect(rules.at('prj_1', 'unknown', 0)).toBeUndefined();
    expect(rules.at('prj_2', 'a', 0)).toBeUndefined();
  });
});
