import { describe, expect, it } from 'vitest';
import type { App } from '../platform/http/index.js';
import { ownUrl } from './own-url.js';

const listening = (address: string, family: string) =>
  ({ server: { address: () => ({ address, family, port: 8080 }) } }) as unknown as App;

describe('the URL of the service', () => {
  it.each([
    ['127.0.0.1', 'IPv4', 'http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['10.1.2.3', 'IPv4', 'http://10.1.2.3:8080', 'http://10.1.2.3:8080'],
    ['::1', 'IPv6', 'http://[::1]:8080', 'http://[::1]:8080'],
    ['0.0.0.0', 'IPv4', 'http://localhost:8080', 'http://127.0.0.1:8080'],
    ['::', 'IPv6', 'http://localhost:8080', 'http://[::1]:8080'],
  ])('on %s (%s) is %s to people and %s to itself', (address, family, toPeople, toItself) => {
    const app = listening(address, family);
    expect([ownUrl(app, 'people'), ownUrl(app, 'itself')]).toEqual([toPeople, toItself]);
  });

  it('is not known before it listens', () => {
    expect(() => ownUrl({ server: { address: () => null } } as App, 'itself')).toThrow(/does not listen/);
  });
});
