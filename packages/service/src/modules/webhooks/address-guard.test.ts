import { describe, expect, it } from 'vitest';
import { isInternalAddress } from './address-guard.js';
import { endpointUrlProblem, hostOf } from './endpoint-url.js';

/** The first and last address of each range that is refused, and the neighbours that are allowed. */
const INTERNAL = [
  ['this network', '0.0.0.0', '0.255.255.255'],
  ['private', '10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.0', '192.168.255.255'],
  ['carrier-grade NAT', '100.64.0.0', '100.127.255.255'],
  ['loopback', '127.0.0.1', '127.255.255.255', '::1'],
  ['unspecified', '::', '::0.0.0.0'],
  ['link-local', '169.254.0.0', '169.254.255.255', 'fe80::', 'febf::ffff', 'fe80::1%eth0', 'fec0::1'],
  ['protocol assignments', '192.0.0.0', '192.0.0.255', '2001::', '2001:1ff:ffff::'],
  ['documentation', '192.0.2.0', '198.51.100.255', '203.0.113.1', '2001:db8::', '3fff::', '3fff:fff::'],
  ['6to4', '192.88.99.1', '2002::', '2002:5db8:d822::1'],
  ['benchmarking', '198.18.0.0', '198.19.255.255', '2001:2::1'],
  ['Teredo', '2001::1', '2001:0:5db8:d822::1'],
  ['multicast', '224.0.0.0', '239.255.255.255', 'ff00::', 'ff02::1'],
  ['reserved', '240.0.0.0', '255.255.255.254', '255.255.255.255', '4000::', '5f00::1', '8000::', 'ffff::'],
  ['unique local', 'fc00::', 'fdff::ffff', 'fd00:ec2::254'],
  ['IPv4-mapped', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:93.184.216.34', '::ffff:0:93.184.216.34'],
  ['IPv4-compatible', '::127.0.0.1', '::93.184.216.34'],
  ['NAT64', '64:ff9b::7f00:1', '64:ff9b::93.184.216.34', '64:ff9b:1::1', '64:ff9b:1:ffff::'],
  ['discard-only', '100::', '100::ffff'],
  [
    'metadata services',
    '169.254.169.254',
    '169.254.170.2',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
  ],
  ['no address', '', 'localhost', '127.1', '0x7f000001', '1.2.3.4.5', '2130706433', ':::'],
] as const;

const PUBLIC = [
  ...[
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '93.184.216.34',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
  ],
  ...['128.0.0.0', '168.63.129.15', '168.63.129.17', '169.253.255.255', '169.255.0.0', '172.15.255.255'],
  ...['172.32.0.0', '191.255.255.255', '192.0.1.0', '192.0.3.0', '192.167.255.255', '192.169.0.0'],
  ...['198.17.255.255', '198.20.0.0', '198.51.101.0', '203.0.112.255', '203.0.114.0', '223.255.255.255'],
  ...[
    '2001:200::',
    '2001:4860:4860::8888',
    '2001:db9::',
    '2003::1',
    '2606:4700::1',
    '2a00:1450::1',
    '3ffe::1',
  ],
];

describe('an address', () => {
  it.each(INTERNAL.flatMap(([kind, ...addresses]) => addresses.map((address) => [kind, address])))(
    'is internal, %s: %s',
    (_kind, address) => expect(isInternalAddress(address)).toBe(true),
  );

  it.each(PUBLIC)('is public: %s', (address) => expect(isInternalAddress(address)).toBe(false));
});

const REFUSED_HOSTS = [
  ...['127.0.0.1', '127.1', '0x7f.1', '0177.0.0.1', '2130706433', '0x7f000001', '017700000001', '127.0.0.1.'],
  ...['0', '0.0.0.0', '10.1', '192.168.257', '3232235777', '0xA9FEA9FE', '169.254.169.254', '①②⑦.⓪.⓪.①'],
  ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[0:0:0:0:0:ffff:7f00:0001]', '[fd00::1]', '[64:ff9b::a00:1]'],
  ...[
    'localhost',
    'LOCALHOST',
    'localhost.',
    'api.localhost',
    '%6cocalhost',
    '127.0.0.1:8080',
    '127%2e0%2e0%2e1',
  ],
];

describe('the URL of an endpoint', () => {
  const problem = (url: string, allowPrivate = false) => endpointUrlProblem(url, { allowPrivate });

  it.each([
    'https://example.com',
    'http://example.com:8080/a?b=c@d',
    'HTTPS://Example.com/',
    'https://93.184.216.34/hook',
    'https://[2606:4700::1]/hook',
    'https://xn--bcher-kva.example/',
    'https://localhost.example.com/',
    'https://10.example.com/',
  ])('is taken: %s', (url) => expect(problem(url)).toBeUndefined());

  it.each([
    ['', 'https'],
    ['example.com', 'https'],
    ['//example.com', 'https'],
    ['ftp://example.com', 'https'],
    ['file:///etc/passwd', 'https'],
    ['javascript:alert(1)', 'https'],
    ['https:example.com', 'https'],
    ['https:///example.com', 'https'],
    ['https://', 'https'],
    ['https://exa mple.com', 'https'],
    [' https://example.com', 'https'],
    ['https://example.com/\n', 'https'],
    ['https://example.com\\@127.0.0.1/', 'https'],
    ['https://1.2.3.256/', 'host'],
    ['https://example.com:65536/', 'port'],
    ['https://user@example.com/', 'credentials'],
    ['https://user:password@example.com/', 'credentials'],
    ['https://:@example.com/', 'credentials'],
    ['https://@example.com/', 'credentials'],
    ['https://example.com/#top', 'fragment'],
    ['https://example.com/#', 'fragment'],
  ])('is refused: %j', (url, reason) => expect(problem(url)).toContain(reason));

  it.each(REFUSED_HOSTS)('may not name an internal address: %s', (host) => {
    expect(problem(`http://${host}/hook`)).toContain('internal');
    expect(problem(`http://${host}/hook`, true)).toBeUndefined();
  });

  it('names its host without brackets', () => {
    expect(hostOf(new URL('http://[::1]:80/'))).toBe('::1');
    expect(hostOf(new URL('http://0x7f.1/'))).toBe('127.0.0.1');
  });
});
