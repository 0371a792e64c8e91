import { Type } from 'typebox';
import { EXPRESSION_BYTES_MAX, NAME_CHARS_MAX } from './limits.js';

/** What the configs of extractor and of pricing rule sets are made of. */
export const Path = Type.String({
  minLength: 1,
  maxLength: 1_024,
  description: 'RFC 9535 singular query; `a.b` is short for `$.a.b`.',
});
export const Expression = Type.String({
  minLength: 1,
  maxLength: EXPRESSION_BYTES_MAX,
  description: 'CEL expression.',
});
export const EntryName = Type.String({ minLength: 1, maxLength: NAME_CHARS_MAX });
export const MetricName = Type.String({ minLength: 1, maxLength: 128 });
export const CurrencyCode = Type.String({ minLength: 2, maxLength: 12 });
export const RuleSetName = Type.String({ maxLength: NAME_CHARS_MAX, description: 'Display name.' });
