import { jsonLanguage } from '@codemirror/lang-json';
import type { CodeFinding } from './code-editor-props.js';

type SyntaxNode = ReturnType<typeof jsonLanguage.parser.parse>['topNode'];

export interface Place {
  readonly from: number;
  readonly to: number;
}

/**
 * Finds the value at a path such as `rules[1].match_expr` in a JSON text. A missing value is located at the
 * start of its parent; undefined if the text is not JSON at all.
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

/** If a key repeats, the last one counts, as in JSON.parse. */
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

/** Maps an offset in a string to the position in its JSON literal, which starts at `from`. */
export function placeInLiteral(text: string, from: number, offset: number): number {
  let place = from + 1;
  for (let passed = 0; passed < offset; passed += 1) {
    const escaped = ESCAPED.exec(text.slice(place, place + 6));
    place += escaped?.[0].length ?? 1;
  }
  return place;
}

/** The position at which a text is not valid JSON; undefined if it is valid. */
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
    const message = error instanceof Error ? error.message : 'Invalid JSON.';
    return {
      from: 0,
      to: 0,
      ...mistake,
      message: mistake === undefined ? message : 'Invalid JSON from here on.',
    };
  }
}
