import type { ExtractorTemplate, RulesTestResult } from '@tollgate/contract';

/** The result of a template for a pasted event; undefined while it is running or if the request failed. */
export interface TemplateTrial {
  readonly template: ExtractorTemplate;
  readonly result: RulesTestResult | undefined;
}

export interface TemplateMatch {
  readonly template: ExtractorTemplate;
  readonly result: RulesTestResult;
}

/**
 * The templates that extract charge items from the event, those that extract most first. Payloads of providers are
 * similar, so ties go to the template whose samples have more fields of the event.
 */
export function matchesOf(
  event: Readonly<Record<string, unknown>>,
  trials: readonly TemplateTrial[],
): TemplateMatch[] {
  return trials
    .flatMap(({ template, result }) =>
      result === undefined || result.errors.length > 0 || result.charge_items.length === 0
        ? []
        : [{ template, result, rank: rankOf(event, template, result) }],
    )
    .toSorted((a, b) => compareRanks(b.rank, a.rank))
    .map(({ template, result }) => ({ template, result }));
}

function rankOf(
  event: Readonly<Record<string, unknown>>,
  { samples }: ExtractorTemplate,
  { charge_items, dimensions, subject }: RulesTestResult,
): readonly number[] {
  const known = new Set(samples.flatMap(({ raw_json }) => Object.keys(raw_json)));
  const familiar = Object.keys(event).filter((name) => known.has(name)).length;
  return [charge_items.length, familiar, Object.keys(dimensions).length + (subject === null ? 0 : 1)];
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (const [index, value] of a.entries()) {
    const difference = value - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
