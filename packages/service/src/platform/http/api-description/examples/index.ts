import { CORRECTION_EXAMPLES } from './corrections.js';
import { LIMIT_EXAMPLES } from './limits.js';
import { RULE_EXAMPLES } from './rules.js';
import { TENANT_EXAMPLES } from './tenants.js';
import { USAGE_EXAMPLES } from './usage.js';

/** Examples, by the name of their type, of all types that readers of the API description are likely to look at. */
export const EXAMPLES: Readonly<Record<string, unknown>> = {
  ...TENANT_EXAMPLES,
  ...RULE_EXAMPLES,
  ...USAGE_EXAMPLES,
  ...CORRECTION_EXAMPLES,
  ...LIMIT_EXAMPLES,
};
