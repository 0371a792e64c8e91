import { type Static, Type } from 'typebox';
import { closed, DecimalText, mapOf, Nullable } from './common.js';
import { ChargeItemExtractor, DimensionConfig, OnUnpriced, SubjectConfig } from './rule-set.js';

export const ResolvedSubject = Type.Object(
  { type: Type.String(), id: Type.String() },
  { ...closed, description: 'The subject of an event, by its extractor or by its sender.' },
);

export const SampleChargeItem = Type.Object(
  { metric: Type.String(), unit: Type.String(), quantity: DecimalText },
  { ...closed, description: 'A charge item that a template reads.' },
);

export const ExtractorTemplateSample = Type.Object(
  {
    title: Type.String({ description: 'Title of the sample.' }),
    raw_json: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'The `raw_json` that a client sends.',
    }),
    subject: Nullable(ResolvedSubject),
    dimensions: mapOf(Type.String(), { description: 'Dimensions read from the sample, by name.' }),
    charge_items: Type.Array(SampleChargeItem, {
      description: 'Charge items read from the sample, in the order of the extractors.',
    }),
  },
  { ...closed, description: 'A payload, and its charge items by the template.' },
);

export const ExtractorTemplate = Type.Object(
  {
    id: Type.String({ description: 'Value for the `template_id` of a rule set.' }),
    title: Type.String(),
    description: Type.String({ description: 'The metrics that are charged, and how they add up.' }),
    payload: Type.String({ description: 'The payload to send as `raw_json`, also for a streamed response.' }),
    documentation_url: Type.String({ description: 'URL of the documentation of the payload.' }),
    subject: SubjectConfig,
    dimensions: Type.Array(DimensionConfig),
    charge_item_extractors: Type.Array(ChargeItemExtractor),
    on_unpriced: Type.Optional(OnUnpriced),
    samples: Type.Array(ExtractorTemplateSample),
  },
  { ...closed, description: 'Ready-made extractor rules for a well-known payload.' },
);

export const ExtractorTemplateList = Type.Object(
  { templates: Type.Array(ExtractorTemplate) },
  { description: 'All extractor templates.' },
);

export type ExtractorTemplate = Static<typeof ExtractorTemplate>;
export type ExtractorTemplateSample = Static<typeof ExtractorTemplateSample>;
export type ExtractorTemplateList = Static<typeof ExtractorTemplateList>;
