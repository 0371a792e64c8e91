import { type Static, Type } from 'typebox';
import {
  EXPRESSION_BYTES_MAX,
  NAME_CHARS_MAX,
  RULE_SET_DIMENSIONS_MAX,
  RULE_SET_EXTRACTORS_MAX,
} from './limits.js';

const closed = { additionalProperties: false } as const;
const Path = Type.String({
  minLength: 1,
  maxLength: 1_024,
  description: 'RFC 9535 singular query; `a.b` is short for `$.a.b`.',
});
const Expression = Type.String({
  minLength: 1,
  maxLength: EXPRESSION_BYTES_MAX,
  description: 'CEL expression.',
});
const Name = Type.String({ minLength: 1, maxLength: NAME_CHARS_MAX });

export const SubjectConfig = Type.Object(
  {
    type_path: Type.Optional(Path),
    default_type: Type.Optional(Type.String({ maxLength: 64 })),
    id_path: Type.Optional(Path),
    default_id: Type.Optional(Type.String({ maxLength: 255 })),
    required: Type.Optional(Type.Boolean()),
  },
  { ...closed, description: 'How a raw event becomes a subject.' },
);

export const DimensionConfig = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 64 }),
    path: Path,
    type: Type.Union([Type.Literal('string'), Type.Literal('number'), Type.Literal('boolean')]),
    required: Type.Optional(Type.Boolean()),
  },
  closed,
);

export const ChargeItemExtractor = Type.Object(
  {
    name: Type.Optional(Name),
    metric: Type.String({ minLength: 1, maxLength: 128 }),
    path: Path,
    type: Type.Union([Type.Literal('number'), Type.Literal('decimal_string')]),
    unit: Type.Optional(Type.String({ maxLength: 64 })),
    currency: Type.Optional(Type.String({ minLength: 2, maxLength: 12 })),
    unit_price_expr: Type.Optional(Expression),
    amount_expr: Type.Optional(Expression),
  },
  closed,
);

/** The part of an extractor rule set that decides how an event is read and rated. */
export const ExtractorConfig = Type.Object(
  {
    subject: Type.Optional(SubjectConfig),
    dimensions: Type.Optional(Type.Array(DimensionConfig, { maxItems: RULE_SET_DIMENSIONS_MAX })),
    charge_item_extractors: Type.Optional(
      Type.Array(ChargeItemExtractor, { maxItems: RULE_SET_EXTRACTORS_MAX }),
    ),
  },
  closed,
);

export type SubjectConfig = Static<typeof SubjectConfig>;
export type DimensionConfig = Static<typeof DimensionConfig>;
export type ChargeItemExtractor = Static<typeof ChargeItemExtractor>;
export type ExtractorConfig = Static<typeof ExtractorConfig>;
