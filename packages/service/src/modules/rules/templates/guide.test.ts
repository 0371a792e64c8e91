import { readFileSync } from 'node:fs';
import type { ExtractorTemplate } from '@tollgate/contract';
import { describe, expect, it } from 'vitest';
import { expandTemplate, TEMPLATES } from './index.js';

const guide = readFileSync(new URL('../../../../../../docs/guides/templates.md', import.meta.url), 'utf8');
const sections = guide.split(/^## /m).slice(1);

/** The section of the guide whose title names the template. */
const sectionOf = ({ id, title }: ExtractorTemplate) =>
  sections.find((section) => section.startsWith(`${title}: \`${id}\`\n`)) ?? '';

const tableOf = (section: string) => section.split('\n').filter((line) => line.startsWith('|'));

/**
 * Returns the charge items of a template as the guide shows them; a subtracted path is shown as the item that reports
 * it.
 */
function chargeItemTable({ charge_item_extractors: items }: ExtractorTemplate): string[] {
  const nameOf = (path: string) => items.find((item) => item.path === path)?.name;
  const rows = items.map(({ name, metric, unit, path, sum_paths: sumPaths, less_paths: lessPaths = [] }) => {
    const less = lessPaths.map((lessPath) => `*${nameOf(lessPath)}*`).join(', ');
    const total = sumPaths === undefined ? `\`${path}\`` : `\`${path}\` plus compaction`;
    const quantity = less === '' ? total : `${total} minus ${less}`;
    return `| ${name} | \`${metric}\` | ${unit} | ${quantity} |`;
  });
  return ['| Charge item | Metric | Unit | Quantity |', '|---|---|---|---|', ...rows];
}

function subjectLine({ subject }: ExtractorTemplate): string {
  return `Subject: type \`${subject.default_type}\`, id from \`${subject.id_path}\`.`;
}

function dimensionsLine({ dimensions }: ExtractorTemplate): string {
  const all = dimensions.map(
    ({ name, path, sum_paths: sumPaths = [], bands, required }) =>
      `\`${name}\` (${[path, ...sumPaths].map((each) => `\`${each}\``).join(' + ')}` +
      `${bands === undefined ? '' : ', in bands'}${required === true ? ', required' : ''})`,
  );
  return `Dimensions: ${all.join(', ')}.`;
}

describe('the guide to templates', () => {
  it.each(TEMPLATES)('says what $id charges and reads', (template) => {
    const section = sectionOf(template);
    expect(tableOf(section)).toEqual(chargeItemTable(template));
    const unwrapped = section.replace(/(?<=\S)\n(?=\S)/g, ' ');
    expect(unwrapped).toContain(`\n${subjectLine(template)} ${dimensionsLine(template)}\n`);
    expect(section).toContain(`(${template.documentation_url})`);
  });

  it('names no other', () => {
    const titles = sections.map((section) => section.split('\n')[0]);
    const named = titles.filter((title) => title?.includes('`'));
    expect(named).toEqual(TEMPLATES.map(({ id, title }) => `${title}: \`${id}\``));
  });

  it('creates rule sets that are taken', () => {
    const bodies = [...guide.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, text]) =>
      JSON.parse(text as string),
    );
    expect(bodies.length).toBeGreaterThan(0);
    for (const body of bodies) expect(() => expandTemplate(body)).not.toThrow();
  });
});
