import { type Static, type TSchema, Type } from 'typebox';
import { CURRENCY_PATTERN, LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX, NAME_CHARS_MAX } from './limits.js';

/** Objects of the API accept no unknown field. */
export const closed = { additionalProperties: false } as const;

/** Largest Unix second that the API accepts: the end of the year 9999. */
export const UNIX_SECONDS_MAX = 253_402_300_799;
/** Upper bound of the offset of a list; beyond it, narrow the query. */
export const LIST_OFFSET_MAX = 1_000_000;
/** Longest cursor that is parsed; cursors of this service are shorter. */
export const CURSOR_CHARS_MAX = 128;

export const UnixSeconds = Type.Integer({
  minimum: 0,
  maximum: UNIX_SECONDS_MAX,
  description: 'Unix time in seconds.',
});

/** The currency of a wallet, which may be no money. */
export const Currency = Type.String({
  pattern: CURRENCY_PATTERN,
  description: 'ISO 4217 code, or a unit of your own.',
});

export const ResourceName = Type.String({
  minLength: 1,
  maxLength: NAME_CHARS_MAX,
  pattern: '\\S',
  description: 'Display name; not blank.',
});

/** States of a version of rules or of a limit plan. */
export const PUBLICATION_STATUSES = ['draft', 'published', 'archived'] as const;
export type PublicationStatus = (typeof PUBLICATION_STATUSES)[number];
export const PublicationStatusSchema = Type.Unsafe<PublicationStatus>({
  type: 'string',
  enum: [...PUBLICATION_STATUSES],
  description: 'If a rule set or a plan is archived, all its versions are `archived`.',
});

/** A value, or null when there is none. */
export const Nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

/**
 * An object with any keys whose values have this schema. Type.Record does not fit: its key pattern `^.*$` would let the
 * value of a key with a line break pass unchecked.
 */
export const mapOf = <T extends TSchema>(
  value: T,
  options: { readonly description: string; readonly maxProperties?: number },
) => Type.Unsafe<Record<string, Static<T>>>({ type: 'object', additionalProperties: value, ...options });

/** Longest text of a decimal that is parsed: no decimal of the API needs more. */
const DECIMAL_CHARS_MAX = 64;

/** A decimal in a response. */
export const DecimalText = Type.String({ description: 'Exact decimal, plain: `"12.5"`, `"0"`, `"-3"`.' });

/**
 * A decimal in a request. A number is read from the bytes of the body, never from the double that a JSON parser makes
 * of it; the number of digits is checked there too.
 */
export const DecimalInput = Type.Union([Type.String({ maxLength: DECIMAL_CHARS_MAX }), Type.Number()], {
  description: 'Exact decimal, as text or as a number.',
});
export const decimalInput = (meaning: string): typeof DecimalInput => {
  const description = `${meaning} Exact decimal, as a string or as a number whose digits are kept as sent; at most 20 integer and 18 fraction digits.`;
  return { ...DecimalInput, ...{ description } };
};

/** The `limit` parameter of a list. */
const listLimit = (description: string, maximum = LIST_LIMIT_MAX, byDefault = LIST_LIMIT_DEFAULT) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum, default: byDefault, description }));

/** Query fields of a list that is paged by a cursor. */
export const cursorFields = (
  ...[description = 'Page size.', ...bounds]: Partial<Parameters<typeof listLimit>>
) => ({
  limit: listLimit(description, ...bounds),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: CURSOR_CHARS_MAX,
      description: '`next_cursor` of the previous page, with the same filters.',
    }),
  ),
});

export const PageQuery = Type.Object(
  {
    limit: listLimit('Page size.'),
    offset: Type.Optional(
      Type.Integer({ minimum: 0, maximum: LIST_OFFSET_MAX, default: 0, description: 'Entries to skip.' }),
    ),
  },
  closed,
);
export type PageQuery = Static<typeof PageQuery>;

/** Fields that every paged list contains in addition to its entries. */
export const pageFields = {
  total_count: Type.Integer({ minimum: 0, description: 'Entries in the whole list.' }),
  limit: Type.Integer({ description: 'Page size that was used.' }),
  offset: Type.Integer({ description: 'Entries that were skipped.' }),
};

/** The response 204; handlers send `null`. */
export const noContent = (description: string) => Type.Null({ description });
