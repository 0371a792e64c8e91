import { describe, expect, test } from 'vitest';
import { readObjectStoreUrl } from '../platform/object-store/index.js';
import { acceptingConnectionsMax, descriptorLimit, planDescriptors } from './descriptors.js';
import { StartError } from './start-error.js';

const WHOLE = {
  roles: ['api', 'worker', 'projector'],
  workers: 1,
  expressLane: true,
  clickhouseUrl: undefined,
  databaseConnectionsMax: 20,
  directoryUrl: undefined,
  objectStoreUrl: undefined,
} as const;
const API = { ...WHOLE, roles: ['api'], clickhouseUrl: 'http://clickhouse:8123/tollgate' } as const;

describe('file descriptors', () => {
  test('of accepting processes are their own, and all of them together have a bound', () => {
    const several = { ...WHOLE, workers: 4 };
    expect(acceptingConnectionsMax(several, 1_024)).toBe(940);
    expect(acceptingConnectionsMax(several, 1_000_000)).toBe(12_500);
    expect(acceptingConnectionsMax(several, 100)).toBe(64);
    const whole = planDescriptors({ ...several, expressLane: false }, 4_096).connectionsMax;
    expect(planDescriptors(several, 4_096).connectionsMax).toBe(whole - 4 * 34);
  });

  test('leave to clients what the stores do not need, up to a bound', () => {
    expect(planDescriptors(WHOLE, 1_024)).toEqual({ connectionsMax: 374, warning: undefined });
    expect(planDescriptors(API, 1_024)).toEqual({ connectionsMax: 876, warning: undefined });
    expect(planDescriptors({ ...API, databaseConnectionsMax: 120 }, 1_024).connectionsMax).toBe(776);
    const cell = { ...API, directoryUrl: 'postgresql://directory/directory' };
    expect(planDescriptors(cell, 1_024).connectionsMax).toBe(876 - 261);
    expect(planDescriptors({ ...WHOLE, workers: 3 }, 1_024)).toMatchObject({ connectionsMax: 232 });
    expect(planDescriptors(WHOLE, 1_048_576).connectionsMax).toBe(50_000);
    expect(planDescriptors(WHOLE, Number.POSITIVE_INFINITY).connectionsMax).toBe(50_000);
  });

  test('are kept for the connections to a bucket, also for those of the rating thread', () => {
    const objectStoreUrl = readObjectStoreUrl('s3://bucket');
    expect(planDescriptors({ ...API, objectStoreUrl }, 1_024).connectionsMax).toBe(876 - 32);
    expect(planDescriptors({ ...API, objectStoreUrl, roles: ['worker'] }, 1_024).connectionsMax).toBe(
      planDescriptors({ ...API, roles: ['worker'] }, 1_024).connectionsMax - 64,
    );
    const folder = readObjectStoreUrl('file:///shared/folder');
    expect(planDescriptors({ ...API, objectStoreUrl: folder }, 1_024).connectionsMax).toBe(876);
  });

  test('that are few are worth a sentence', () => {
    const sentence = (connections: number) =>
      expect.stringMatching(
        new RegExp(
          `^This process may open \\d+ files, which leaves ${connections} HTTP connections; raise .*\\.$`,
        ),
      );
    expect(planDescriptors(WHOLE, 905)).toEqual({ connectionsMax: 255, warning: sentence(255) });
    expect(planDescriptors(WHOLE, 906).warning).toBeUndefined();
    expect(planDescriptors(WHOLE, 500)).toEqual({ connectionsMax: 64, warning: sentence(64) });
  });

  test('that are too few end the start with one sentence', () => {
    expect(planDescriptors(WHOLE, 328).connectionsMax).toBe(64);
    const start = () => planDescriptors(WHOLE, 327);
    expect(start).toThrow(StartError);
    expect(start).toThrow(
      'This process may open 327 files and needs at least 328; raise the limit to 906 or more (ulimit -n, LimitNOFILE= of systemd, --ulimit nofile= of Docker).',
    );
  });

  test.runIf(process.platform !== 'win32')('are counted by the limit of this process', () => {
    expect(descriptorLimit()).toBeGreaterThan(64);
  });
});
