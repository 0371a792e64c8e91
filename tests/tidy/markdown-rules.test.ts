import { describe, expect, it } from 'vitest';
import { COMMENT_COLUMNS_MAX } from './comment-rules.js';
import { markdownFindings } from './markdown-rules.js';

describe('document rules', () => {
  const documentRules = (text: string, path = 'docs/page.md') =>
    markdownFindings({ path, text }).map(({ rule }) => rule);

  it.each([
    ['a heading', '## What must hold'],
    ['a question', 'What does an event cost? See below.'],
    ['a line that goes on with the word', 'Nothing is left\nOf course.'],
    ['code', '```\nOf all\n```'],
    ['a wide row of a table', `| ${'x'.repeat(COMMENT_COLUMNS_MAX)} |`],
    ['a line of full width', 'x'.repeat(COMMENT_COLUMNS_MAX)],
  ])('allow: %s', (_name, text) => {
    expect(documentRules(text)).toEqual([]);
  });

  it.each([
    ['document-width', 'x'.repeat(COMMENT_COLUMNS_MAX + 1)],
    ['document-sentence', 'What is kept stays.'],
    ['document-sentence', 'It is kept. Of the rest nothing stays.'],
    ['document-sentence', '- **Whose** it is, nobody knows.'],
    ['document-sentence', 'It opens.\nElse it stays closed.'],
  ])('refuse %s: %s', (rule, text) => {
    expect(documentRules(text)).toEqual([rule]);
  });

  it('leave other files alone', () => {
    expect(documentRules('What is kept stays.', 'docs/page.txt')).toEqual([]);
  });
});
