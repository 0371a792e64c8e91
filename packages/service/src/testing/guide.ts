import { readFileSync } from 'node:fs';

/** A guide that tests read: its examples must be true. */
export interface Guide {
  readonly text: string;
  /** The fenced blocks with this info string. */
  blocks(info: string): readonly string[];
}

export function readGuide(name: string): Guide {
  return guideOf(readFileSync(new URL(`../../../../docs/guides/${name}.md`, import.meta.url), 'utf8'));
}

export function guideOf(text: string): Guide {
  const fenced = [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)];
  return {
    text,
    blocks: (info) => fenced.filter(([, found]) => found === info).map(([, , block]) => block as string),
  };
}

/** Returns the parts of a guide that begin with a heading of this level, by heading. */
export function sectionsOf({ text }: Guide, level: number): ReadonlyMap<string, Guide> {
  const heading = new RegExp(`^#{1,${level}} `, 'm');
  const mark = `${'#'.repeat(level)} `;
  const sections = new Map<string, Guide>();
  const starts = [...text.matchAll(new RegExp(`^${mark}(.*)$`, 'gm'))];
  for (const { index, 0: line, 1: title = '' } of starts) {
    const rest = text.slice(index + line.length);
    const end = rest.search(heading);
    sections.set(title, guideOf(end < 0 ? rest : rest.slice(0, end)));
  }
  return sections;
}
