import { hostname } from 'node:os';
import { describe, expect, test } from 'vitest';
import { generateApiKey } from '../../kernel/api-key-text.js';
import { createLog } from './index.js';

const KEY = generateApiKey('live');

/** Collects the lines that a log writes. */
function capture({ isTTY = false, role }: { isTTY?: boolean; role?: string } = {}) {
  const lines: string[] = [];
  const destination = {
    isTTY,
    write: (line: string) => lines.push(line),
  } as unknown as NodeJS.WritableStream;
  return { log: createLog({ level: 'info', ...(role && { role }), destination }), lines };
}

describe('a log', () => {
  test('is JSON lines, from its level on', () => {
    const { log, lines } = capture();
    log.debug('no');
    log.info({ count: 2 }, 'started');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        host: hostname(),
        count: 2,
        msg: 'started',
      },
    ]);
  });

  test('names the part of the service that writes it', () => {
    const { log, lines } = capture({ role: 'api,worker' });
    log.info('started');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ host: hostname(), role: 'api,worker' });
  });

  test.each<[string, (log: ReturnType<typeof createLog>) => void]>([
    ['a message', (log) => log.info(`refused ${KEY}, then`)],
    ['a message with values', (log) => log.info('refused %s and %j', KEY, { a: KEY })],
    ['a field', (log) => log.info({ note: `got ${KEY}` }, 'x')],
    ['a nested field', (log) => log.info({ a: [{ b: { c: KEY } }] })],
    ['a header', (log) => log.info({ headers: { authorization: 'whatever' } })],
    ['an error', (log) => log.error({ err: new Error(`bad key ${KEY}`) }, 'x')],
    ['an error alone', (log) => log.error(new Error(`bad key ${KEY}`))],
    ['the cause of an error', (log) => log.error({ err: new Error('x', { cause: new Error(KEY) }) })],
    ['a child', (log) => log.child({ key: KEY, note: KEY }).info('x')],
    ['the password of a URL', (log) => log.info('cannot connect to postgresql://u:whatever@db/x')],
    ['a bearer token', (log) => log.info('sent Bearer whatever-it-was')],
    ['a secret that signs webhooks', (log) => log.info('signed by whsec_whatever+it/was=')],
    [
      'named fields',
      (log) => log.info({ password: 'whatever', client_secret: 'whatever', serviceKey: 'whatever' }),
    ],
  ])('never holds a secret: %s', (_where, write) => {
    const { log, lines } = capture();
    write(log);
    expect(lines.length).toBe(1);
    expect(lines[0]).not.toContain(KEY.split('_')[2]);
    expect(lines[0]).not.toContain('whatever');
    expect(lines[0]).toContain('[redacted]');
  });

  test('keeps what an error says', () => {
    const { log, lines } = capture();
    log.error({ err: Object.assign(new TypeError('no such thing'), { code: 'E1' }) }, 'failed');
    const { err, msg } = JSON.parse(lines[0] ?? '');
    expect(msg).toBe('failed');
    expect(err).toMatchObject({ type: 'TypeError', message: 'no such thing', code: 'E1' });
    expect(err.stack).toContain('log.test.ts');
  });

  test('on a terminal is one line for people, and a stack below', () => {
    const { log, lines } = capture({ isTTY: true, role: 'api' });
    log.warn({ port: 8080 }, 'listening');
    log.error({ err: new Error('broken') }, 'failed');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are what is being removed
    const plain = lines.map((line) => line.replaceAll(/\x1b\[\d+m/g, ''));
    expect(plain[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} WARN {2}listening port=8080\n$/);
    expect(plain[1]).toMatch(/ERROR failed\n {2}Error: broken\n {4}.* at /);
  });

  test('sends no control characters of others to a terminal', () => {
    const { log, lines } = capture({ isTTY: true });
    log.info({ name: '\x1b]0;owned\x07' }, 'a\nb');
    expect(lines[0]).not.toContain('\x1b]');
    expect(lines[0]?.split('\n').length).toBe(2);
  });
});
