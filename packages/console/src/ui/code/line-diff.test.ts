import { describe, expect, it } from 'vitest';
import { diffLines, foldSame } from './line-diff.js';

const diffOf = (before: string, after: string) =>
  diffLines(before, after).map(({ kind, text }) => `${{ same: ' ', removed: '-', added: '+' }[kind]}${text}`);

describe('diffLines', () => {
  it('returns nothing for equal texts', () => {
    expect(diffOf('a\nb', 'a\nb')).toEqual([' a', ' b']);
  });

  it('returns what was removed before what was added in its place', () => {
    expect(diffOf('a\nb\nc', 'a\nx\nc')).toEqual([' a', '-b', '+x', ' c']);
  });

  it('finds the longest rows of equal lines', () => {
    expect(diffOf('a\nb\nc\nd', 'b\nx\nd\ne')).toEqual(['-a', ' b', '-c', '+x', ' d', '+e']);
  });

  it('does not count a line twice that begins and ends both texts', () => {
    expect(diffOf('a', 'a\na')).toEqual([' a', '+a']);
    expect(diffOf('a\na\na', 'a')).toEqual([' a', '-a', '-a']);
  });

  it('takes a comma at the end of a line for no difference', () => {
    expect(diffOf('{\n"a": 1\n}', '{\n"a": 1,\n"b": 2\n}')).toEqual([' {', ' "a": 1,', '+"b": 2', ' }']);
  });

  it('gives back both texts, whatever they are', () => {
    const words = ['a', 'b', 'c'];
    for (let seed = 0; seed < 500; seed += 1) {
      const make = (from: number, length: number) =>
        Array.from({ length }, (_, index) => words[(from * 7 + index * index * from) % 3]).join('\n');
      const before = make(seed, seed % 7);
      const after = make(seed + 3, (seed * 5) % 8);
      const lines = diffLines(before, after);
      const side = (left: string) =>
        lines.filter(({ kind }) => kind === 'same' || kind === left).map(({ text }) => text);
      expect(side('removed').join('\n')).toBe(before);
      expect(side('added').join('\n')).toBe(after);
    }
  });

  it('returns texts that are too large to be compared as one block', () => {
    const many = (word: string) => Array.from({ length: 2_100 }, (_, index) => `${word}${index}`).join('\n');
    const lines = diffLines(`top\n${many('a')}`, `top\n${many('b')}`);
    expect(lines.map(({ kind }) => kind)).toEqual([
      'same',
      ...new Array(2_100).fill('removed'),
      ...new Array(2_100).fill('added'),
    ]);
  });
});

describe('foldSame', () => {
  it('leaves out what is far from any difference, and says how much', () => {
    const lines = diffLines('1\n2\n3\n4\n5\n6', '1\n2\n3\n4\nx\n6');
    const parts = foldSame(lines, 1).map((part) =>
      part.kind === 'folded' ? part.count : `${part.kind} ${part.text}`,
    );
    expect(parts).toEqual([3, 'same 4', 'removed 5', 'added x', 'same 6']);
  });
});
