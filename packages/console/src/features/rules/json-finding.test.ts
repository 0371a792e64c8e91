import { describe, expect, it } from 'vitest';
import { inJson } from './json-finding.js';

describe('inJson', () => {
  const marked = (body: object, path: string, message: string) => {
    const text = JSON.stringify(body, null, 2);
    return inJson(text, [{ path, message }]).map((finding) => [
      text.slice(finding.from, finding.to),
      finding.message,
    ]);
  };

  it('marks the place within an expression, escaped as it is there', () => {
    const body = { rules: [{ match_expr: 'dimensions.model == "x" && foo' }] };
    expect(marked(body, 'rules[0].match_expr', 'line 1, column 28: unknown variable: foo')).toEqual([
      ['foo', 'unknown variable: foo'],
    ]);
  });

  it('marks any other value as a whole', () => {
    expect(marked({ currency: 'usd' }, 'currency', 'expected a code')).toEqual([
      ['"usd"', 'currency: expected a code'],
    ]);
  });
});
