import type { Account, CreateAccountBody, UpdateAccountBody } from '@tollgate/contract';
import { readJsonObject } from '../rules/trial/json-text.js';

/** The state of the account form. */
export interface AccountDraft {
  readonly name: string;
  /** Empty for none. */
  readonly external_id: string;
  readonly timezone: string;
  /** Unix seconds; undefined stands for the time at which the account is created. */
  readonly anchor: number | undefined;
  /** A JSON object as text; empty for one without fields. */
  readonly metadata: string;
}

export const NEW_ACCOUNT: AccountDraft = {
  name: '',
  external_id: '',
  timezone: 'UTC',
  anchor: undefined,
  metadata: '',
};

export const ACCOUNT_FIELDS = [
  'name',
  'external_id',
  'timezone',
  'anchor',
  'metadata',
] as const satisfies readonly (keyof CreateAccountBody)[];

export function accountDraftOf({ name, external_id, timezone, anchor, metadata }: Account): AccountDraft {
  const hasMetadata = Object.keys(metadata).length > 0;
  return {
    ...{ name, timezone, anchor },
    external_id: external_id ?? '',
    metadata: hasMetadata ? JSON.stringify(metadata, null, 2) : '',
  };
}

/** Whether the metadata can be sent. */
export function hasValidMetadata({ metadata }: AccountDraft): boolean {
  return metadata.trim() === '' || readJsonObject(metadata).isObject;
}

/** The fields that differ. Others are not sent, so that they keep what somebody else has set meanwhile. */
export function accountChanges(before: AccountDraft, after: AccountDraft): UpdateAccountBody {
  const { name, external_id, timezone, anchor, metadata } = after;
  return {
    ...(name === before.name ? {} : { name: name.trim() }),
    ...(external_id === before.external_id ? {} : { external_id: external_id === '' ? null : external_id }),
    ...(timezone === before.timezone ? {} : { timezone }),
    ...(anchor === undefined || anchor === before.anchor ? {} : { anchor }),
    ...(metadata === before.metadata ? {} : { metadata: metadataOf(metadata) }),
  };
}

function metadataOf(text: string): Account['metadata'] {
  const reading = readJsonObject(text);
  return reading.isObject ? reading.value : {};
}

export function newAccountBody(draft: AccountDraft): CreateAccountBody {
  const { external_id, ...settings } = accountChanges(NEW_ACCOUNT, draft);
  return {
    ...settings,
    name: draft.name.trim(),
    ...(external_id == null ? {} : { external_id }),
  };
}
