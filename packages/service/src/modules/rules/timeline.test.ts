import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PublishedVersion, RuleTimeline } from './timeline.js';

interface Version {
  readonly version: number;
  readonly effectiveFrom: number;
}

/** The rule in its plainest form. */
function activeVersion(versions: readonly Version[], at: number): number | undefined {
  let best: Version | undefined;
  for (const version of versions) {
    if (version.effectiveFrom > at) continue;
    const isLater = best === undefined || version.effectiveFrom > best.effectiveFrom;
    const isHigher = version.effectiveFrom === best?.effectiveFrom && version.version > best.version;
    if (isLater || isHigher) best = version;
  }
  return (best ?? versions[0])?.version;
}

const times = fc.integer({ min: 0, max: 12 });
const versionTimes = fc.array(times, { maxLength: 5 });
const ruleSets = fc.array(fc.record({ published: versionTimes, archivedAt: fc.option(times) }), {
  maxLength: 4,
});

const versionsAt = (effectiveFroms: readonly number[]): Version[] =>
  effectiveFroms.map((effectiveFrom, index) => ({ version: index + 1, effectiveFrom }));

function inForceAt(timeline: RuleTimeline, at: number): unknown {
  const rules = timeline.activeDuring(timeline.intervalAt(at));
  const nameOf = ({ ruleSetId, version }: PublishedVersion) => `${ruleSetId} ${version}`;
  return rules && [nameOf(rules.extractor), ...rules.pricings.map(nameOf).toSorted()];
}

describe('RuleTimeline', () => {
  it('names, for every time, the versions that the plain rule names', () => {
    fc.assert(
      fc.property(
        versionTimes,
        ruleSets,
        fc.array(times),
        fc.boolean(),
        (extractor, bound, occurred, reverse) => {
          const extractors = versionsAt(extractor).map((version) => ({
            ruleSetId: 'ers',
            ...version,
          }));
          const pricings = bound.flatMap(({ published, archivedAt }, index) =>
            versionsAt(published).map((version) => ({
              ruleSetId: `prs_${index}`,
              archivedAt,
              purpose: 'price' as const,
              ...version,
            })),
          );
          // In any order, as from a database.
          if (reverse) for (const versions of [extractors, pricings]) versions.reverse();
          const timeline = new RuleTimeline({ extractors, pricings });
          for (const at of [-1, ...occurred]) {
            const version = activeVersion(versionsAt(extractor), at);
            const prices = bound.flatMap(({ published, archivedAt }, index) => {
              const found =
                archivedAt !== null && at >= archivedAt
                  ? undefined
                  : activeVersion(versionsAt(published), at);
              return found === undefined ? [] : [`prs_${index} ${found}`];
            });
            expect(inForceAt(timeline, at)).toEqual(version && [`ers ${version}`, ...prices]);
          }
        },
      ),
    );
  });
});
