import type { Finding } from './finding.js';
import type { TextFile } from './source.js';

export const COMMENT_COLUMNS_MAX = 120;

/** SQL is left out: migrations are compared by their checksums, so their comments cannot change. */
const CODE = /\.(ts|tsx|mjs)$/;
/** A line that is a comment and nothing more; the group is its text. */
const COMMENT_LINE = /^\s*(?:\/\/|\/\*\*?|\*(?!\/)|\{\/\*)\s?(.*?)(?:\*\/.*)?$/;
/** Words that make a fragment of a sentence when they begin it: the reader waits for its subject and its verb. */
const FRAGMENT = /(?:^|[.!?:] )(?:@\w+ )?(Of|What|Whose|Else)\b/;
const ENDS_SENTENCE = /(^|[.!?:])$/;

/** Comments that people can read: not too wide, and made of sentences. */
export function commentFindings(file: TextFile): Finding[] {
  if (!CODE.test(file.path)) return [];
  const found: Finding[] = [];
  let before = '';
  file.text.split('\n').forEach((line, index) => {
    const comment = COMMENT_LINE.exec(line)?.[1]?.trim();
    if (comment === undefined) {
      before = '';
      return;
    }
    const report = (rule: string, advice: string) =>
      found.push({ rule, path: file.path, line: index + 1, advice });
    if (line.length > COMMENT_COLUMNS_MAX)
      report('comment-width', `${line.length} columns, at most ${COMMENT_COLUMNS_MAX}: wrap it.`);
    const fragment = FRAGMENT.exec(comment);
    const beginsInside = fragment?.index === 0 && !/^[.!?:]/.test(fragment[0]) && !ENDS_SENTENCE.test(before);
    if (fragment !== null && !beginsInside)
      report('comment-sentence', `a sentence begins with "${fragment[1]}": write subject, verb, object.`);
    before = comment;
  });
  return found;
}
