import { COMMENT_COLUMNS_MAX } from './comment-rules.js';
import type { Finding } from './finding.js';
import type { TextFile } from './source.js';

/** Rows of tables, addresses and code have no other place to break. */
const UNBREAKABLE = /^\s*(\||\[[^\]]+\]: |<)/;
const FENCE = /^\s*(```|~~~)/;
/** Such words make a fragment of a sentence when they begin it; a list's mark and an emphasis may come first. */
const FRAGMENT = /(?:^|[.!?] )(?:\s*(?:[-*+>]+|\d+\.) )?(?:\*\*)?(Of|What|Whose|Else)\b(?![^.]*\?)/;
const ENDS_SENTENCE = /(^|[.!?:|])(\*\*)?$/;

/** Documents that people can read: lines not too wide, and made of sentences. */
export function markdownFindings(file: TextFile): Finding[] {
  if (!file.path.endsWith('.md')) return [];
  const found: Finding[] = [];
  let isCode = false;
  let before = '';
  file.text.split('\n').forEach((line, index) => {
    if (FENCE.test(line)) isCode = !isCode;
    if (isCode || line.startsWith('#')) return;
    const report = (rule: string, advice: string) =>
      found.push({ rule, path: file.path, line: index + 1, advice });
    if (line.length > COMMENT_COLUMNS_MAX && !UNBREAKABLE.test(line))
      report('document-width', `${line.length} columns, at most ${COMMENT_COLUMNS_MAX}: wrap it.`);
    const fragment = FRAGMENT.exec(line);
    const beginsInside =
      fragment?.index === 0 && /^\s*\w/.test(line) && !/^[.!?]/.test(line) && !ENDS_SENTENCE.test(before);
    if (fragment !== null && !beginsInside)
      report('document-sentence', `a sentence begins with "${fragment[1]}": write subject, verb, object.`);
    before = line.trim();
  });
  return found;
}
