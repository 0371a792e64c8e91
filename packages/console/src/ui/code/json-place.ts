import { jsonLanguage } from '@codemirror/lang-json';
import type { CodeFinding } from './code-editor-props.js';

type SyntaxNode = ReturnType<typeof jsonLanguage.parser.parse>['topNode'];

export interface Place {
  readonly from: number;
  readonly to: number;
}

/**
 * Where in a JSON text the value of a path as `rules[1].match_expr` stands. What is not there is shown at the
 * first character of what it should be in; undefined where the text is no JSON at all.
 */
export function placeInJson(text: string, path: string): Place | undefined {
  const value = jsonLanguage.parser.parse(text).topNode.firstChild;
  if (value === null || value.type.isError) return undefined;
  let node: SyntaxNode = value;
  for (const step of stepsOf(path)) {
    const next = typeof step === 'number' ? elementAt(node, step) : propertyOf(node, step, text);
    if (next === undefined) break;
    node = next;
  }
  const isComposed = node.name === 'Object' || node.name === 'Array';
  return { from: node.from, to: isComposed ? node.from + 1 : node.to };
}

function stepsOf(path: string): (string | number)[] {
  return [...path.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([name, index]) =>
    index === undefined ? name : Number(index),
  );
}

function elementAt(list: SyntaxNode, index: number): SyntaxNode | undefined {
  if (list.name !== 'Array') return undefined;
  return childrenOf(list).filter(({ name }) => !/^[[\],⚠]$/.test(name))[index];
}

/** Of keys that repeat the last one counts, as in JSON.parse. */
function propertyOf(object: SyntaxNode, key: string, text: string): SyntaxNode | undefined {
  if (object.name !== 'Object') return undefined;
  const property = childrenOf(object).findLast((child) => {
    const name = child.getChild('PropertyName');
    return name !== null && unquoted(text.slice(name.from, name.to)) === key;
  });
  const value = property?.lastChild;
  return value == null || value.name === 'PropertyName' ? undefined : value;
}

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
}

function unquoted(literal: string): unknown {
  try {
    return JSON.parse(literal);
  } catch {
    return undefined;
  }
}

const ESCAPED = /^\\(u[0-9a-fA-F]{4}|.)/;

/** The place of a character of a string, in the literal that stands for it from `from` on. */
export function placeInLiteral(text: string, from: number, offset: number): number {
  let place = from + 1;
  for (let passed = 0; passed < offset; passed += 1) {
    const escaped = ESCAPED.exec(text.slice(place, place + 6));
    place += escaped?.[0].length ?? 1;
  }
  return place;
}

/** Where a text stops being JSON; undefined where it is JSON. */
export function jsonMistake(text: string): CodeFinding | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    let mistake: Place | undefined;
    jsonLanguage.parser.parse(text).iterate({
      enter: ({ type, from, to }) => {
        if (type.isError) mistake ??= { from, to };
      },
    });
    const message = error instanceof Error ? error.message : 'This is no JSON.';
    return {
      from: 0,
      to: 0,
      ...mistake,
      message: mistake === undefined ? message : 'This is no JSON from here on.',
    };
  }
}
