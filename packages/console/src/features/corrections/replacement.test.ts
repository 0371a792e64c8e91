import type { UsageEventDetail } from '@tollgate/contract';
import { expect, it } from 'vitest';
import { contentOf, isCompleteContent, replaceBody } from './replacement.js';

const detail = (fields: object) =>
  ({
    raw_json: { a: 1 },
    metadata: null,
    'x-billing': null,
    subject_type: 'user',
    subject_id: 'ann',
    subject_is_sent: false,
    ...fields,
  }) as unknown as UsageEventDetail;

it('leaves the subject to the rules where they have found it', () => {
  expect(contentOf(detail({}))).toEqual({
    rawJson: '{\n  "a": 1\n}',
    metadata: '',
    billing: '',
    subjectType: '',
    subjectId: '',
  });
});

it('keeps the subject that the event names itself, metadata and x-billing', () => {
  const content = contentOf(
    detail({ subject_is_sent: true, metadata: { m: 1 }, 'x-billing': { items: [] } }),
  );
  expect(JSON.parse(replaceBody(content, 'why'))).toEqual({
    raw_json: { a: 1 },
    metadata: { m: 1 },
    'x-billing': { items: [] },
    subject_type: 'user',
    subject_id: 'ann',
    reason: 'why',
  });
});

it('sends numbers as they are written', () => {
  const content = { ...contentOf(detail({})), rawJson: '{"n":12345678901234567890.10}' };
  expect(replaceBody(content, 'a "b"')).toBe(
    '{"raw_json":{"n":12345678901234567890.10},"reason":"a \\"b\\""}',
  );
});

it.each([
  [{ rawJson: '{' }, false],
  [{ rawJson: '' }, false],
  [{ metadata: '[]' }, false],
  [{ billing: '{}' }, true],
  [{ subjectType: 'user' }, false],
  [{ subjectId: 'ann' }, false],
  [{ subjectType: 'user', subjectId: 'ann' }, true],
])('knows whether %j can be sent', (change, expected) => {
  expect(isCompleteContent({ ...contentOf(detail({})), ...change })).toBe(expected);
});
