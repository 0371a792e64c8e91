import type { Account } from '@tollgate/contract';
import { expect, it } from 'vitest';
import {
  accountChanges,
  accountDraftOf,
  hasValidMetadata,
  NEW_ACCOUNT,
  newAccountBody,
} from './account-draft.js';

const ANCHOR_S = 1_000_000_007;
const ACCOUNT = {
  ...{ name: 'Acme', external_id: 'crm-1', timezone: 'UTC', anchor: ANCHOR_S, metadata: { seats: 3 } },
} as unknown as Account;

it('sends nothing but what was changed', () => {
  const before = accountDraftOf(ACCOUNT);
  expect(accountChanges(before, { ...before })).toEqual({});
  expect(accountChanges(before, { ...before, timezone: 'Europe/Berlin' })).toEqual({
    timezone: 'Europe/Berlin',
  });
  expect(accountChanges(before, { ...before, name: ' Acme AG ', metadata: '{"seats": 4}' })).toEqual({
    ...{ name: 'Acme AG', metadata: { seats: 4 } },
  });
});

it('takes away what was emptied', () => {
  const before = accountDraftOf(ACCOUNT);
  const after = { ...before, external_id: '', metadata: ' ' };
  expect(accountChanges(before, after)).toEqual({ external_id: null, metadata: {} });
});

it('creates an account with the settings that were chosen, and leaves the others to the service', () => {
  expect(newAccountBody({ ...NEW_ACCOUNT, name: ' Acme ' })).toEqual({ name: 'Acme' });
  const draft = { ...NEW_ACCOUNT, name: 'Acme', external_id: 'crm-1', anchor: ANCHOR_S };
  expect(newAccountBody(draft)).toEqual({ name: 'Acme', external_id: 'crm-1', anchor: ANCHOR_S });
});

it.each([
  ['', true],
  ['{"seats": 3}', true],
  ['[]', false],
  ['{"seats"', false],
])('says whether metadata can be sent: %j', (metadata, isValid) => {
  expect(hasValidMetadata({ ...NEW_ACCOUNT, metadata })).toBe(isValid);
});
