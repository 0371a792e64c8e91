import { expect, it } from 'vitest';
import { EMPTY_DRAFT, inputOf, queryOf } from './chart-draft.js';

it('sends no condition that has no value yet, and every other', () => {
  const whole = { region: { in: ['eu, west'] }, model: { not_in: ['a'] }, team: { exists: false } };
  const draft = { ...EMPTY_DRAFT, filters: { ...whole, kind: { in: [] }, plan: { not_in: [] } } };
  expect(inputOf(draft, 'brd_1').filters).toEqual(whole);
  expect(queryOf(draft).filters).toEqual(whole);
});
