import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../kernel/clock.js';
import {
  PUBLISHED_CACHED_MAX,
  PUBLISHED_FRESH_MS,
  type Publication,
  RuleSetPublications,
} from './publications.js';

const OWNER = { tenantId: 'ten_1', projectId: 'prj_1' };

let clock: ManualClock;
let stored: Map<string, Publication>;
let publications: RuleSetPublications;
let reads: number;
let failure: Error | undefined;
beforeEach(() => {
  clock = new ManualClock(1_000_000);
  stored = new Map([['ers_1', 'published']]);
  reads = 0;
  failure = undefined;
  publications = new RuleSetPublications(async () => {
    reads += 1;
    if (failure !== undefined) throw failure;
    return new Map(stored);
  }, clock);
});

describe('RuleSetPublications', () => {
  it('remembers that a rule set is published, for a second', async () => {
    expect(publications.isKnownPublished(OWNER, 'ers_1')).toBe(false);
    await publications.read(OWNER, ['ers_1']);
    expect(publications.isKnownPublished(OWNER, 'ers_1')).toBe(true);
    expect(publications.isKnownPublished({ ...OWNER, projectId: 'prj_2' }, 'ers_1')).toBe(false);
    clock.advanceMs(PUBLISHED_FRESH_MS - 1);
    expect(publications.isKnownPublished(OWNER, 'ers_1')).toBe(true);
    clock.advanceMs(1);
    expect(publications.isKnownPublished(OWNER, 'ers_1')).toBe(false);
  });

  it('reads those that are used again while they are still known, together and once at a time', async () => {
    const ids = Array.from({ length: 8 }, (_, n) => `ers_${n}`);
    stored = new Map(ids.map((id) => [id, 'published']));
    const areKnown = () => ids.map((id) => publications.isKnownPublished(OWNER, id));
    const all = ids.map(() => true);
    await publications.read(OWNER, ids);
    clock.advanceMs(PUBLISHED_FRESH_MS / 2 - 1);
    expect(areKnown()).toEqual(all);
    await new Promise(setImmediate);
    expect(reads).toBe(1);
    clock.advanceMs(1);
    for (let use = 0; use < 64; use += 1) expect(areKnown()).toEqual(all);
    await new Promise(setImmediate);
    expect(reads).toBe(2);
    clock.advanceMs(PUBLISHED_FRESH_MS - 1);
    expect(areKnown()).toEqual(all);
  });

  it('does not remember a renewal that began before this node changed the rule set', async () => {
    await publications.read(OWNER, ['ers_1']);
    clock.advanceMs(PUBLISHED_FRESH_MS / 2);
    publications.isKnownPublished(OWNER, 'ers_1');
    await Promise.resolve();
    publications.forget(OWNER, 'ers_1');
    await new Promise(setImmediate);
    expect(reads).toBe(2);
    expect(publications.isKnownPublished(OWNER, 'ers_1')).toBe(false);
  });

  it('keeps all that it may when all of it is read again', async () => {
    stored = new Map(Array.from({ length: PUBLISHED_CACHED_MAX }, (_, n) => [`ers_${n}`, 'published']));
    await publications.read(OWNER, [...stored.keys()]);
    stored = new Map([['ers_1', 'published']]);
    await publications.read(OWNER, ['ers_1']);
    expect(publications.isKnownPublished(OWNER, 'ers_7')).toBe(true);
  });

  it('learns by that that another node has archived it', async () => {
    await publications.read(OWNER, ['ers_1']);
    stored.set('ers_1', 'unpublished');
    clock.advanceMs(PUBLISHED_FRESH_MS / 2);
    expect(publications.isKnownPublished(OWNER, 'ers_1')).toBe(true);
    await vi.waitFor(() => expect(publications.isKnownPublished(OWNER, 'ers_1')).toBe(false));
  });

  it('knows it for no longer than a second when it cannot be read again, and tries anew', async () => {
    await publications.read(OWNER, ['ers_1']);
    failure = new Error('away');
    clock.advanceMs(PUBLISHED_FRESH_MS / 2);
    for (const expected of [2, 3]) {
      await vi.waitFor(() => {
        expect(publications.isKnownPublished(OWNER, 'ers_1')).toBe(true);
        expect(reads).toBeGreaterThanOrEqual(expected);
      });
    }
    clock.advanceMs(PUBLISHED_FRESH_MS / 2);
    expect(publications.isKnownPublished(OWNER, 'ers_1')).toBe(false);
    await expect(publications.read(OWNER, ['ers_1'])).rejects.toThrow('away');
  });

  it('never remembers that one is not', async () => {
    stored.set('ers_1', 'unpublished');
    await publications.read(OWNER, ['ers_1']);
    stored.set('ers_1', 'published');
    expect((await publications.read(OWNER, ['ers_1'])).get('ers_1')).toBe('published');
  });

  it('forgets at once what this node has changed, even while a read is under way', async () => {
    await publications.read(OWNER, ['ers_1']);
    const underWay = publications.read(OWNER, ['ers_1']);
    publications.forget(OWNER, 'ers_1');
    await underWay;
    expect(publications.isKnownPublished(OWNER, 'ers_1')).toBe(false);
  });

  it('trusts nothing that was read in the future of a clock set back', async () => {
    await publications.read(OWNER, ['ers_1']);
    clock.advanceMs(-3_600_000);
    expect(publications.isKnownPublished(OWNER, 'ers_1')).toBe(false);
  });

  it('remembers a bounded number', async () => {
    stored = new Map(Array.from({ length: PUBLISHED_CACHED_MAX }, (_, n) => [`ers_${n}`, 'published']));
    await publications.read(OWNER, [...stored.keys()]);
    expect(publications.isKnownPublished(OWNER, 'ers_0')).toBe(true);
    stored = new Map([['ers_new', 'published']]);
    await publications.read(OWNER, ['ers_new']);
    expect(publications.isKnownPublished(OWNER, 'ers_new')).toBe(true);
    expect(publications.isKnownPublished(OWNER, 'ers_0')).toBe(false);
  });
});
