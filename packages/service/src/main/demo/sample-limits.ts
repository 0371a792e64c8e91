import type { CreateUsageLimitPlanBody } from '@tollgate/contract';

/**
 * The limits of a customer of the sample company: spend alerts at 50 % and 80 % and blocks at 100 %, tokens
 * only alert.
 */
export const SAMPLE_PLAN: CreateUsageLimitPlanBody = {
  name: 'starter',
  title: 'Starter',
  description: 'Blocks at 25 USD per month and alerts at ten million tokens per day.',
  rules: [
    {
      limit_key: 'monthly_spend',
      measure: 'amount',
      selector_type: 'all',
      selector_value: '',
      currency: 'USD',
      period: 'month',
      limit_amount: '25',
      action: 'block',
      notify_at: [50, 80],
    },
    {
      limit_key: 'daily_tokens',
      measure: 'quantity',
      selector_type: 'metric_prefix',
      selector_value: 'llm.',
      currency: '',
      period: 'day',
      limit_amount: '10000000',
      action: 'notify',
    },
  ],
};

/** Every customer has the plan, with windows of its own. */
export const SAMPLE_ROUTE = { subject_type: 'customer', subject_id: '*' } as const;
