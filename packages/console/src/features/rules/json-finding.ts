import type { CodeFinding } from '../../ui/code/code-editor-props.js';
import { placeInJson, placeInLiteral } from '../../ui/code/json-place.js';
import { type Finding, inExpression, PLACED } from './finding.js';

/** Locates errors of a body in its JSON text. */
export function inJson(text: string, findings: readonly Finding[]): CodeFinding[] {
  return findings.flatMap(({ path, message }) => {
    const place = placeInJson(text, path);
    if (place === undefined) return [];
    const source = PLACED.test(message) ? stringAt(text.slice(place.from, place.to)) : undefined;
    if (source === undefined) return [{ ...place, message: path === '' ? message : `${path}: ${message}` }];
    const within = inExpression(source, message);
    return [
      {
        from: placeInLiteral(text, place.from, within.from),
        to: placeInLiteral(text, place.from, within.to),
        message: within.message,
      },
    ];
  });
}

function stringAt(literal: string): string | undefined {
  if (!literal.startsWith('"')) return undefined;
  try {
    return JSON.parse(literal) as string;
  } catch {
    return undefined;
  }
}
