import { expect, it } from 'vitest';
import { readConfig } from '../../config.js';
import { demoConfig } from './demo.js';

it('pays at the sandbox unless another provider is configured', () => {
  expect(demoConfig(readConfig({})).paymentProvider).toBe('sandbox');
  const configured = readConfig({ TOLLGATE_PAYMENT_PROVIDER: 'stripe' });
  expect(demoConfig(configured).paymentProvider).toBe('stripe');
});

it('lets webhooks go to a receiver on the same machine', () => {
  expect(demoConfig(readConfig({})).webhookAllowPrivate).toBe(true);
});
