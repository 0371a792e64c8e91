import { type Static, Type } from 'typebox';
import { closed, Nullable, ResourceName, UNIX_SECONDS_MAX, UnixSeconds } from './common.js';
import { IDENTIFIER_CHARS_MAX } from './limits.js';
import { ProjectParams } from './tenancy.js';

export const AccountId = Type.String({ description: 'Account id, `acct_…`.' });
export const ExternalId = Type.String({
  minLength: 1,
  maxLength: IDENTIFIER_CHARS_MAX,
  description: 'Id of the account in your own system; unique in the project.',
});

export const AccountParams = Type.Object({ ...ProjectParams.properties, id: AccountId }, closed);

const AccountTimezone = Type.String({
  minLength: 1,
  maxLength: 64,
  description:
    "IANA timezone of the periods of the account's counters; default: `UTC`. A new one applies from the next period on.",
});
const AccountAnchor = Type.Integer({
  minimum: 0,
  maximum: UNIX_SECONDS_MAX,
  description:
    "Unix seconds from which periods such as `1 month` of the account's counters are counted; default: when the account " +
    'was created. A new one applies from the next period on.',
});
const AccountMetadata = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Your own fields; at most 16 KiB as compact JSON.',
});
const accountSettings = {
  timezone: Type.Optional(AccountTimezone),
  anchor: Type.Optional(AccountAnchor),
  metadata: Type.Optional(AccountMetadata),
};

export const CreateAccountBody = Type.Object(
  { name: ResourceName, external_id: Type.Optional(ExternalId), ...accountSettings },
  { ...closed, description: 'A billing account to create.' },
);

export const UpdateAccountBody = Type.Object(
  { name: Type.Optional(ResourceName), external_id: Type.Optional(Nullable(ExternalId)), ...accountSettings },
  {
    ...closed,
    description: 'Fields to change; others stay as they are. `metadata` is replaced as a whole.',
  },
);

export const Account = Type.Object(
  {
    id: AccountId,
    tenant_id: Type.String(),
    project_id: Type.String(),
    name: ResourceName,
    external_id: Nullable(ExternalId),
    timezone: AccountTimezone,
    anchor: AccountAnchor,
    metadata: AccountMetadata,
    created_at: UnixSeconds,
  },
  { ...closed, description: 'A billing account of a customer.' },
);

export type CreateAccountBody = Static<typeof CreateAccountBody>;
export type UpdateAccountBody = Static<typeof UpdateAccountBody>;
export type Account = Static<typeof Account>;
