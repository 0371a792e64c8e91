import { PAYMENT_PROVIDERS, type PaymentProviderName } from '@tollgate/contract';
import { BASELINE_PLANS, type BaselinePlan } from './modules/catalog/index.js';
import { hostUrls } from './platform/host-urls.js';
import { LOG_LEVELS, type LogLevel } from './platform/log/index.js';

// How the text of a setting is read. A wrong value throws an Error whose message ends the sentence "VARIABLE
// must be …".

/** Any text of an operator's choice that fits a header; one that we generate has the form of every other key. */
const SERVICE_KEY = /^[\x21-\x7e]{16,200}$/;
/** Text that fits a header; only the service knows whether it is a key. */
const API_KEY = /^[\x21-\x7e]{1,200}$/;

/** No comma, which separates several; no space, which would be a slip. */
const SECRET = /^[\x21-\x2b\x2d-\x7e]{8,200}$/;

/** Reads where a service is, as in `--url https://usage.example.com`. @throws Error "a URL that …" */
export function readServiceUrl(text: string): string {
  return urlOf('http:', 'https:')(text);
}

/** Reads a key that is sent to a service. @throws Error "1 to 200 visible …" */
export function readApiKey(text: string): string {
  if (!API_KEY.test(text)) throw new Error('1 to 200 visible ASCII characters without spaces');
  return text;
}

export function integer(least: number, most: number) {
  return (text: string): number => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most)) throw new Error(`a whole number from ${least} to ${most}`);
    return value;
  };
}

export function readFlag(text: string): boolean {
  if (text !== '0' && text !== '1') throw new Error('0 or 1');
  return text === '1';
}

/** Reads a flag of OpenTelemetry, which has other values than those of this service. */
export function readBoolean(text: string): boolean {
  const value = text.trim().toLowerCase();
  if (value !== 'true' && value !== 'false') throw new Error('true or false');
  return value === 'true';
}

export function readPaymentProvider(text: string): PaymentProviderName {
  const provider = PAYMENT_PROVIDERS.find((name) => name === text);
  if (provider === undefined) throw new Error(`one of ${PAYMENT_PROVIDERS.join(', ')}`);
  return provider;
}

/** One or more, separated by commas. */
export function readSecrets(text: string): readonly string[] {
  const secrets = text.split(',');
  if (!secrets.every((secret) => SECRET.test(secret))) {
    throw new Error(
      'one or more secrets of 8 to 200 visible ASCII characters, separated by commas, without spaces',
    );
  }
  return secrets;
}

/** Without a slash at its end: paths are appended. */
export function readPublicUrl(text: string): string {
  const { origin, pathname } = new URL(urlOf('http:', 'https:')(text));
  return origin + pathname.replace(/\/+$/, '');
}

export function readHost(text: string): string {
  if (!/^[A-Za-z0-9.:_-]+$/.test(text)) throw new Error('a host name or an IP address');
  return text;
}

export function urlOf(...protocols: string[]) {
  return (text: string): string => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || !protocols.includes(url.protocol)) {
      throw new Error(`a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`);
    }
    return text;
  };
}

/** Each of several hosts must make a valid URL. */
export function readDatabaseUrl(text: string): string {
  hostUrls(text).forEach(urlOf('postgresql:', 'postgres:'));
  return text;
}

/** Each of several hosts must make a valid URL. */
export function readClickHouseUrl(text: string): string {
  hostUrls(text).forEach(urlOf('http:', 'https:'));
  return text;
}

/** Reads the name of a cluster of ClickHouse. @throws Error that ends the sentence "… must be" */
export function readClusterName(text: string): string {
  if (!/^[\w.-]{1,100}$/.test(text))
    throw new Error('1 to 100 letters, digits, underscores, dots and hyphens');
  return text;
}

export function readServiceKey(text: string): string {
  if (!SERVICE_KEY.test(text)) throw new Error('16 to 200 visible ASCII characters without spaces');
  return text;
}

export function readBaselinePlan(text: string): BaselinePlan {
  const plan = BASELINE_PLANS.find((name) => name === text);
  if (plan === undefined) throw new Error(`one of ${BASELINE_PLANS.join(', ')}`);
  return plan;
}

export function readLogLevel(text: string): LogLevel {
  const level = LOG_LEVELS.find((name) => name === text);
  if (level === undefined) throw new Error(`one of ${LOG_LEVELS.join(', ')}`);
  return level;
}

/** Reads the name of a cell. @throws Error that ends the sentence "… must be" */
export function readCellName(text: string): string {
  if (!/^[a-z][a-z0-9-]{0,39}$/.test(text)) {
    throw new Error('1 to 40 lower-case letters, digits and hyphens, beginning with a letter');
  }
  return text;
}
