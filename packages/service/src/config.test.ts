import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError, configurationTable, readConfig } from './config.js';
import { newScratchFolder } from './testing/scratch-folder.js';

describe('the configuration', () => {
  test('of an empty environment is the documented default', () => {
    expect(readConfig({})).toEqual({
      host: '127.0.0.1',
      port: 8080,
      dataDir: resolve('data'),
      databaseUrl: undefined,
      migrate: true,
      clickhouseUrl: undefined,
      clickhouseCluster: undefined,
      serviceKey: undefined,
      sdkDisabled: false,
      roles: ['api', 'worker', 'projector'],
      logLevel: 'info',
      eventAgeDaysMax: 3650,
      eventAheadDaysMax: 30,
      baselinePlan: 'unlimited',
      ingestBacklogEventsMax: 2_000_000,
      webhookAllowPrivate: false,
      paymentProvider: undefined,
      stripeApiKey: undefined,
      paymentWebhookSecrets: undefined,
      checkoutSuccessUrl: undefined,
      checkoutCancelUrl: undefined,
      refundEndsPlan: false,
      drainSeconds: 5,
      expressLane: true,
      publicUrl: undefined,
      url: undefined,
      apiKey: undefined,
      databaseConnectionsMax: 20,
      warnings: [],
    });
  });

  test('reads every variable; an empty one counts as absent', () => {
    const config = readConfig({
      HOST: '::',
      PORT: '0',
      TOLLGATE_DATA_DIR: '/var/lib/tollgate',
      TOLLGATE_DATABASE_URL: 'postgresql://u:p@db,standby:5433/tollgate',
      TOLLGATE_MIGRATE: '0',
      TOLLGATE_CLICKHOUSE_URL: 'https://u:p@one:8443,two:8443/tollgate',
      TOLLGATE_CLICKHOUSE_CLUSTER: 'usage-1',
      TOLLGATE_SERVICE_KEY: 'at-least-16-characters',
      TOLLGATE_ROLES: 'api, projector',
      TOLLGATE_LOG_LEVEL: 'warn',
      TOLLGATE_EVENT_AGE_DAYS_MAX: '90',
      TOLLGATE_BASELINE_PLAN: 'none',
      TOLLGATE_WEBHOOK_ALLOW_PRIVATE: '1',
      TOLLGATE_PAYMENT_PROVIDER: 'stripe',
      TOLLGATE_STRIPE_API_KEY: 'sk_test_1',
      TOLLGATE_PAYMENT_WEBHOOK_SECRET: 'whsec_new,whsec_old',
      TOLLGATE_CHECKOUT_SUCCESS_URL: 'https://shop.example/thanks',
      TOLLGATE_PUBLIC_URL: 'https://usage.example/tollgate/',
    });
    expect(config).toMatchObject({
      host: '::',
      port: 0,
      dataDir: '/var/lib/tollgate',
      databaseUrl: 'postgresql://u:p@db,standby:5433/tollgate',
      migrate: false,
      clickhouseUrl: 'https://u:p@one:8443,two:8443/tollgate',
      clickhouseCluster: 'usage-1',
      serviceKey: 'at-least-16-characters',
      roles: ['api', 'projector'],
      logLevel: 'warn',
      eventAgeDaysMax: 90,
      baselinePlan: 'none',
      webhookAllowPrivate: true,
      paymentProvider: 'stripe',
      stripeApiKey: 'sk_test_1',
      paymentWebhookSecrets: ['whsec_new', 'whsec_old'],
      checkoutSuccessUrl: 'https://shop.example/thanks',
      publicUrl: 'https://usage.example/tollgate',
    });
  });

  test.each([
    ['PORT', 'http'],
    ['TOLLGATE_BASELINE_PLAN', 'launch'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '8080.5'],
    ['PORT', '0x50'],
    ['PORT', ' 80'],
    ['HOST', 'http://localhost'],
    ['TOLLGATE_WEBHOOK_ALLOW_PRIVATE', 'true'],
    ['TOLLGATE_PAYMENT_PROVIDER', 'paypal'],
    ['TOLLGATE_STRIPE_API_KEY', 'sk test'],
    ['TOLLGATE_PAYMENT_WEBHOOK_SECRET', 'whsec_new, whsec_old'],
    ['TOLLGATE_PAYMENT_WEBHOOK_SECRET', 'whsec_new,'],
    ['TOLLGATE_CHECKOUT_SUCCESS_URL', 'javascript:alert(1)'],
    ['TOLLGATE_CHECKOUT_CANCEL_URL', '/cancelled'],
    ['TOLLGATE_PUBLIC_URL', 'usage.example'],
    ['TOLLGATE_DATABASE_URL', 'localhost:5432'],
    ['TOLLGATE_DATABASE_URL', 'mysql://localhost/x'],
    ['TOLLGATE_DATABASE_URL', 'postgresql://u:p@db:5432,standby:port/x'],
    ['TOLLGATE_MIGRATE', 'no'],
    ['TOLLGATE_CLICKHOUSE_URL', 'clickhouse://x'],
    ['TOLLGATE_CLICKHOUSE_URL', 'http://u:p@one:8123,two:port/x'],
    ['TOLLGATE_CLICKHOUSE_CLUSTER', `it's`],
    ['TOLLGATE_CLICKHOUSE_CLUSTER', 'a b'],
    ['TOLLGATE_SERVICE_KEY', 'short'],
    ['TOLLGATE_SERVICE_KEY', 'with spaces in between'],
    ['TOLLGATE_ROLES', 'api,api'],
    ['TOLLGATE_ROLES', 'api,'],
    ['TOLLGATE_ROLES', 'everything'],
    ['TOLLGATE_LOG_LEVEL', 'verbose'],
    ['TOLLGATE_EVENT_AGE_DAYS_MAX', '1e3'],
    ['TOLLGATE_INGEST_BACKLOG_EVENTS_MAX', '0'],
  ])('%s=%s is refused in one sentence that names it', (variable, text) => {
    const error = failureOf({ [variable]: text });
    expect(error.problems.length).toBe(1);
    expect(error.message).toMatch(new RegExp(`^${variable} must be [^\\n]+\\.$`));
  });

  test('names every wrong variable at once, and never repeats a secret', () => {
    const error = failureOf({ PORT: 'x', TOLLGATE_SERVICE_KEY: 'secret', TOLLGATE_DATABASE_URL: 'secret' });
    expect(error.problems.length).toBe(3);
    expect(error.message).not.toContain('secret');
  });

  describe('of secrets in files', () => {
    const folder = newScratchFolder('config-');
    const fileWith = (content: string) => {
      const path = join(folder, randomUUID());
      writeFileSync(path, content);
      return path;
    };

    test.each([
      ['TOLLGATE_DATABASE_URL', 'databaseUrl', 'postgresql://u:p@db/tollgate'],
      ['TOLLGATE_CLICKHOUSE_URL', 'clickhouseUrl', 'http://u:p@db:8123/tollgate'],
      ['TOLLGATE_DIRECTORY_URL', 'directoryUrl', 'postgresql://u:p@db/directory'],
      ['TOLLGATE_SERVICE_KEY', 'serviceKey', 'at-least-16-characters'],
      ['TOLLGATE_STRIPE_API_KEY', 'stripeApiKey', 'sk_test_1'],
      ['TOLLGATE_PAYMENT_WEBHOOK_SECRET', 'paymentWebhookSecrets', 'whsec_new'],
      ['TOLLGATE_API_KEY', 'apiKey', 'sk_live_1'],
    ] as const)('reads the file that %s_FILE names', (variable, name, text) => {
      for (const content of [text, `${text}\n`, `${text}\r\n`]) {
        const config = readConfig({ [`${variable}_FILE`]: fileWith(content), [variable]: '' });
        expect([config[name]].flat()).toEqual([text]);
        expect(config.warnings).toEqual([]);
      }
    });

    test('refuses a file that cannot be read or whose content is wrong, and never repeats it', () => {
      expect(failureOf({ TOLLGATE_SERVICE_KEY_FILE: join(folder, 'absent') }).message).toBe(
        'TOLLGATE_SERVICE_KEY_FILE must name a file that can be read (ENOENT).',
      );
      expect(failureOf({ TOLLGATE_SERVICE_KEY_FILE: fileWith('secret\n') }).message).toBe(
        'The content of the file in TOLLGATE_SERVICE_KEY_FILE must be 16 to 200 visible ASCII characters without spaces.',
      );
    });

    test('refuses a secret that is given twice', () => {
      const key = 'at-least-16-characters';
      const twice = { TOLLGATE_SERVICE_KEY: key, TOLLGATE_SERVICE_KEY_FILE: fileWith(key) };
      expect(failureOf(twice).message).toBe(
        'TOLLGATE_SERVICE_KEY and TOLLGATE_SERVICE_KEY_FILE exclude each other: set only one of them.',
      );
    });

    test('reads no file for a setting that is no secret', () => {
      const config = readConfig({ PORT_FILE: fileWith('1'), TOLLGATE_ROLES_FILE: fileWith('api') });
      expect(config).toMatchObject({ port: 8080, roles: ['api', 'worker', 'projector'] });
      expect(config.warnings).toEqual([
        'The environment variable TOLLGATE_ROLES_FILE is not known and has no effect.',
      ]);
    });
  });

  test('warns of a variable that nobody reads', () => {
    expect(readConfig({ TOLLGATE_DATADIR: '/x' }).warnings).toEqual([
      'The environment variable TOLLGATE_DATADIR is not known and has no effect.',
    ]);
  });

  test('is the one that docs/configuration.md describes', async () => {
    const document = await readFile(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
    expect(document).toContain(`\n${configurationTable()}\n`);
  });
});

function failureOf(environment: NodeJS.ProcessEnv): ConfigError {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error;
  }
  return expect.unreachable('the configuration should have been refused');
}
