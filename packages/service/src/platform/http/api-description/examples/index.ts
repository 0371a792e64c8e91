import { LIMIT_EXAMPLES } from './limits.js';
import { RULE_EXAMPLES } from './rules.js';
import { TENANT_EXAMPLES } from './tenants.js';
import { USAGE_EXAMPLES } from './usage.js';

/** A value of each type that a request or an answer of the API is likely to be read for, by the type's name. */
export const EXAMPLES: Readonly<Record<string, unknown>> = {
  ...TENANT_EXAMPLES,
  ...RULE_EXAMPLES,
  ...USAGE_EXAMPLES,
  ...LIMIT_EXAMPLES,
};
