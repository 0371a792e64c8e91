import { describe, expect, it } from 'vitest';
import { consoleFindings } from './console-rules.js';
import { parseCode } from './source.js';

const rulesOf = (code: string, path = 'features/boards/plot.tsx') =>
  consoleFindings(parseCode(`packages/console/src/${path}`, code)).map(({ rule }) => rule);

describe('the rule about refs', () => {
  it.each([
    'function Plot(props) { latest.current = props; }',
    'const Plot = (props) => { latest.current ??= props; };',
    'const Plot = memo(function Plot(props) { latest.current = props; });',
    'function useSeries() { count.current++; }',
    'function Plot({ all }) { if (all) { last.current = all; } return <p />; }',
    'function Plot({ all }) { const sum = useMemo(() => { last.current = all; }, [all]); }',
    'function Plot({ all }) { return all.map((each) => { last.current = each; return <p />; }); }',
  ])('refuses %s', (code) => {
    expect(rulesOf(code)).toEqual(['refs-in-render']);
  });

  it.each([
    'function Plot(props) { useEffect(() => { latest.current = props; }); }',
    'function Plot(props) { useEffect(() => { all.map((each) => { latest.current = each; }); }); }',
    'function Plot() { return <button onClick={() => { chosen.current = true; }} />; }',
    'function Plot() { const choose = () => { chosen.current = true; }; return <button onClick={choose} />; }',
    'function Plot() { const { current } = host; return host.current?.title; }',
    'async function keepFollowing(position) { position.current = 1; }',
    'function Plot() { place.current.textContent = 1; }',
  ])('allows %s', (code) => {
    expect(rulesOf(code)).toEqual([]);
  });
});

describe('the rule about requests', () => {
  it.each([
    `const read = () => fetch('/api/v1/me');`,
    `window.fetch('/api/v1/me');`,
    `new EventSource('/api');`,
    `navigator.sendBeacon('/api');`,
  ])('refuses %s', (code) => {
    expect(rulesOf(code, 'features/boards/api.ts')).toEqual(['console-requests']);
  });

  it('allows them in one file, in tests, and the methods of a client everywhere', () => {
    expect(rulesOf(`fetch('/api');`, 'api/transport.ts')).toEqual([]);
    expect(rulesOf(`fetch('/api');`, 'api/transport.test.ts')).toEqual([]);
    expect(rulesOf(`client.me(); query.refetch(); project.usage.events();`)).toEqual([]);
  });
});
