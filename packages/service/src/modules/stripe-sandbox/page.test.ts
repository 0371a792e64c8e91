import { describe, expect, it } from 'vitest';
import { completePage, expiredPage, openPage, shownAmount } from './page.js';
import type { SandboxSession } from './session.js';

const hostile = `"><script>alert(1)</script><img src=x onerror='alert(1)'>&amp;`;

const session: SandboxSession = {
  id: 'cs_test_1',
  status: 'open',
  productName: hostile,
  amountMinor: 1900,
  currency: 'usd',
  successUrl: `https://shop.example/ok?x=${hostile}&session={CHECKOUT_SESSION_ID}`,
  cancelUrl: `https://shop.example/no?x=${hostile}`,
  paymentMetadata: { note: hostile },
  paymentIntentId: 'pi_1',
  declined: 1,
  expiresAt: 1_790_000_000,
  createdAt: 1_790_000_000,
};

describe('a page', () => {
  it.each([openPage(session), completePage(session), expiredPage(session)])(
    'shows what others wrote as text, whatever it is',
    ({ html }) => {
      expect(html).not.toMatch(/<script|<img/);
      expect(html).toContain('&quot;&gt;&lt;script&gt;alert(1)');
    },
  );

  it('lets its forms lead to the shop and nowhere else', () => {
    const { contentSecurityPolicy } = openPage(session);
    expect(contentSecurityPolicy).toContain(`form-action 'self' https://shop.example;`);
  });

  it('notifies the shop which session was paid', () => {
    expect(completePage(session).html).toContain('session=cs_test_1"');
  });
});

describe('an amount', () => {
  it.each([
    [1900, 'usd', '19.00'],
    [5, 'usd', '0.05'],
    [49_900, 'eur', '499.00'],
    [123_456_789, 'usd', '1,234,567.89'],
    [1900, 'jpy', '1,900'],
    [1, 'jpy', '1'],
    [1234, 'kwd', '1.234'],
  ])('of %i minor units of %s is %s', (minor, currency, text) => {
    expect(shownAmount(minor, currency)).toBe(text);
  });
});
