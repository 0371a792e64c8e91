import { describe, expect, it } from 'vitest';
import { hostUrls } from './host-urls.js';

describe('a URL', () => {
  it('with several hosts is one URL for each of them', () => {
    expect(hostUrls('postgresql://u:p%40@one:5432,two:5433/db?target_session_attrs=read-write')).toEqual([
      'postgresql://u:p%40@one:5432/db?target_session_attrs=read-write',
      'postgresql://u:p%40@two:5433/db?target_session_attrs=read-write',
    ]);
  });

  it('of ClickHouse, too', () => {
    expect(hostUrls('http://u:p@one:8123,two:8123/db')).toEqual([
      'http://u:p@one:8123/db',
      'http://u:p@two:8123/db',
    ]);
  });

  it.each(['postgresql://u:p,q@one/db?a=b,c', 'postgres://localhost/db?host=/a,b', 'postgresql:///db'])(
    'with one host stays as it is: %s',
    (url) => expect(hostUrls(url)).toEqual([url]),
  );
});
