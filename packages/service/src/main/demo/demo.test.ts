import { expect, it } from 'vitest';
import { readConfig } from '../../config.js';
import { demoConfig, demoLink } from './demo.js';

it('pays at the sandbox unless another provider is configured', () => {
  expect(demoConfig(readConfig({})).paymentProvider).toBe('sandbox');
  const configured = readConfig({ TOLLGATE_PAYMENT_PROVIDER: 'stripe' });
  expect(demoConfig(configured).paymentProvider).toBe('stripe');
});

it('lets webhooks go to a receiver on the same machine', () => {
  expect(demoConfig(readConfig({})).webhookAllowPrivate).toBe(true);
});

it('is opened at its board, by a link that says which', () => {
  const tenant = { tenantId: 'ten_1', projectId: 'prj_1', ruleSetId: 'ers_1', key: 'tg_test_1' };
  const url = 'http://127.0.0.1:8080';
  expect(demoLink(url, { tenant, boardId: 'brd_1' })).toBe(
    `${url}/sign-in?from=%2Fp%2Fprj_1%2Fboards%2Fbrd_1#key=tg_test_1`,
  );
  expect(demoLink(url, { tenant, boardId: undefined })).toBe(`${url}/sign-in#key=tg_test_1`);
});
