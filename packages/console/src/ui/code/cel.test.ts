import { CompletionContext } from '@codemirror/autocomplete';
import { EditorState } from '@codemirror/state';
import { highlightTree, tagHighlighter, tags } from '@lezer/highlight';
import { describe, expect, it } from 'vitest';
import guide from '../../../../../docs/guides/expressions.md?raw';
import { CEL_FUNCTIONS, cel, celCompletions } from './cel.js';

const kinds = tagHighlighter([
  { tag: tags.function(tags.variableName), class: 'function' },
  { tag: tags.special(tags.variableName), class: 'variable' },
  { tag: tags.string, class: 'string' },
  { tag: tags.number, class: 'number' },
  { tag: tags.bool, class: 'bool' },
  { tag: tags.invalid, class: 'invalid' },
  { tag: tags.comment, class: 'comment' },
]);

function highlighted(source: string): [string, string][] {
  const found: [string, string][] = [];
  highlightTree(cel.parser.parse(source), kinds, (from, to, kind) =>
    found.push([kind, source.slice(from, to)]),
  );
  return found;
}

describe('the highlighting of an expression', () => {
  it('knows functions, variables, text and numbers', () => {
    expect(highlighted('dec_mul(item.quantity, dec("0.5")) + 1e-6')).toEqual([
      ['function', 'dec_mul'],
      ['variable', 'item'],
      ['function', 'dec'],
      ['string', '"0.5"'],
      ['number', '1e-6'],
    ]);
  });

  it('takes a field with the name of a variable, and a name that is not called, for what they are', () => {
    expect(highlighted('dimensions.item == size')).toEqual([['variable', 'dimensions']]);
  });

  it('knows no variable by a name that every object has', () => {
    expect(highlighted('constructor == toString')).toEqual([]);
  });

  it('marks text that is not closed, and minds escaped quotes', () => {
    expect(highlighted(`'a\\'b' == "c`)).toEqual([
      ['string', `'a\\'b'`],
      ['invalid', '"c'],
    ]);
  });

  it('goes on in a text of three quotes over the end of a line', () => {
    expect(highlighted('"""a\nb""" // c').map(([kind]) => kind)).toEqual(['string', 'string', 'comment']);
  });
});

describe('completion', () => {
  const complete = (source: string, dimensions: readonly string[] = []) => {
    const state = EditorState.create({ doc: source });
    return celCompletions(new CompletionContext(state, source.length, false), dimensions);
  };
  const labels = (source: string, dimensions?: readonly string[]) =>
    complete(source, dimensions)?.options.map(({ label }) => label) ?? [];

  it('offers what a variable has', () => {
    expect(labels('dec_mul(item.')).toEqual(['quantity', 'unit_price', 'metric', 'unit']);
    expect(labels('subject.t')).toEqual(['type', 'id']);
  });

  it('offers the dimensions of the rule set that can be written with a dot', () => {
    expect(labels('dimensions.mo', ['model', 'service-tier'])).toEqual(['model']);
  });

  it('offers functions of text behind any other value', () => {
    expect(labels('dimensions.model.')).toContain('startsWith');
    expect(labels('constructor.')).toContain('startsWith');
    expect(complete('x.sta')?.from).toBe(2);
  });

  it('offers functions and variables where a value begins, and nothing within a number', () => {
    expect(labels('de')).toEqual(expect.arrayContaining(['dec', 'dec_mul', 'dimensions', 'has']));
    expect(labels('1.')).toEqual([]);
    expect(complete('1 + ')).toBeNull();
  });
});

it('knows the functions that the guide describes, no more and no fewer', () => {
  const described = [...guide.matchAll(/^### (\S.*\))$/gm)].map(([, usage]) => usage);
  expect(CEL_FUNCTIONS.map(({ usage }) => usage)).toEqual(described);
});
