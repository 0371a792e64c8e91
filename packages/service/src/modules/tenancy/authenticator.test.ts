import { describe, expect, test } from 'vitest';
import { generateApiKey } from '../../kernel/api-key-text.js';
import { ManualClock } from '../../kernel/clock.js';
import { KeyAuthenticator, keyHash, type StoredKey } from './authenticator.js';

const SERVICE_KEY = 'a service key of the operator’s own choice';

function authenticatorOf(keys: Record<string, StoredKey>) {
  const lookUps: Buffer[] = [];
  const authenticator = new KeyAuthenticator({
    findKey: async (sha256) => {
      lookUps.push(sha256);
      return Object.entries(keys).find(([text]) => keyHash(text).equals(sha256))?.[1];
    },
    serviceKey: SERVICE_KEY,
    clock: new ManualClock(1_000_000),
    monotonicMs: () => 0,
  });
  return { authenticator, lookUps };
}

const STORED: StoredKey = {
  principal: {
    kind: 'key',
    keyId: 'key_1',
    tenantId: 'ten_1',
    projectId: undefined,
    permissions: ['usage:read'],
  },
  expiresAt: undefined,
};

describe('the authenticator', () => {
  test('knows the service key without a look-up', () => {
    const { authenticator, lookUps } = authenticatorOf({});
    expect(authenticator.authenticate(SERVICE_KEY)).toEqual({ kind: 'service' });
    expect(lookUps).toEqual([]);
  });

  test('looks a key up once, by its hash, and then returns at once', async () => {
    const text = generateApiKey('live');
    const { authenticator, lookUps } = authenticatorOf({ [text]: STORED });
    expect(await authenticator.authenticate(text)).toBe(STORED.principal);
    expect(authenticator.authenticate(text)).toBe(STORED.principal);
    expect(lookUps).toEqual([keyHash(text)]);
  });

  test('refuses malformed keys before any look-up', () => {
    const text = generateApiKey('live');
    const flipped = text.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const { authenticator, lookUps } = authenticatorOf({ [flipped]: STORED });
    for (const malformed of [
      '',
      ' ',
      'tg_live_',
      flipped,
      `${text} `,
      text.toUpperCase(),
      text.slice(0, -1),
    ]) {
      expect(authenticator.authenticate(malformed)).toBeUndefined();
    }
    expect(lookUps).toEqual([]);
  });

  test('remembers that a key is unknown', async () => {
    const text = generateApiKey('test');
    const { authenticator, lookUps } = authenticatorOf({});
    expect(await authenticator.authenticate(text)).toBeUndefined();
    expect(authenticator.authenticate(text)).toBeUndefined();
    expect(lookUps.length).toBe(1);
  });

  test('voids a key from its expiry on', async () => {
    const [expired, valid] = [generateApiKey('live'), generateApiKey('live')];
    const { authenticator } = authenticatorOf({
      [expired]: { ...STORED, expiresAt: 1_000 },
      [valid]: { ...STORED, expiresAt: 1_001 },
    });
    expect(await authenticator.authenticate(expired)).toBeUndefined();
    expect(await authenticator.authenticate(valid)).toBe(STORED.principal);
  });
});
