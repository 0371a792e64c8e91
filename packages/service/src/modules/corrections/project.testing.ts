import type { Correction, CorrectionRequest, Permission } from '@tollgate/contract';
import type { Answer } from '../../testing/api.js';
import type { CorrectionsFixture } from './corrections.testing.js';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
type Json = ReturnType<Answer['json']>;

/** Rules of tests: tokens in USD, calls for 2 EUR each, and bytes without a price. */
export interface TestPrices {
  /** USD per token. */
  readonly token: string;
  /** Whether events without a model fail. */
  readonly isStrict?: boolean;
  readonly onUnpriced?: 'accept' | 'fail';
}

/** The content of an event. */
export interface TestContent {
  readonly customer?: string;
  readonly model?: string;
  /** Tokens; text makes the event fail. */
  readonly n?: number | string;
  readonly calls?: number;
  readonly bytes?: number;
  /** Read by no rule. */
  readonly filler?: string;
}

/** Before this time no event of the tests occurs. */
const RULES_FROM_S = 1_700_000_000;
const PAST_S = 86_400 * 60;
const AHEAD_S = 86_400;

/** A project of a tenant, with rules, whose usage is corrected. */
export class CorrectionsProject {
  ruleSetId = '';
  readonly #url: string;
  #keys = 0;

  private constructor(
    readonly fixture: CorrectionsFixture,
    readonly tenantId: string,
    readonly projectId: string,
    readonly key: string,
  ) {
    this.#url = `/v1/projects/${projectId}`;
  }

  /** Creates a tenant with a project, published rules, and a key. */
  static async create(
    fixture: CorrectionsFixture,
    prices: TestPrices = { token: '0.5' },
  ): Promise<CorrectionsProject> {
    const { api } = fixture;
    const tenantId = await api.makeTenant();
    const projectId = await api.makeProject(tenantId);
    await fixture.provision(projectId);
    const key = await api.makeKey(tenantId, ['tenant:admin']);
    const project = new CorrectionsProject(fixture, tenantId, projectId, key);
    const { id } = await project.must(201, 'POST', '/extractor-rule-sets', extractorOf(prices));
    project.ruleSetId = id;
    await project.must(200, 'POST', `/extractor-rule-sets/${id}/publish`);
    return project;
  }

  call(method: Method, path: string, body?: object, headers = {}, key = this.key): Promise<Answer> {
    return this.fixture.api.call(method, this.#url + path, body, key, headers);
  }

  /** Sends a request, which must have this status. */
  async must(status: number, method: Method, path: string, body?: object, headers = {}): Promise<Json> {
    const answer = await this.call(method, path, body, headers);
    if (answer.status !== status) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.text === '' ? undefined : answer.json();
  }

  get(path: string): Promise<Json> {
    return this.must(200, 'GET', path);
  }

  makeKey(permissions: readonly Permission[]): Promise<string> {
    return this.fixture.api.makeKey(this.tenantId, permissions, this.projectId);
  }

  /** Publishes rules that replace those of all time. */
  async reprice(prices: TestPrices): Promise<void> {
    await this.must(200, 'PUT', `/extractor-rule-sets/${this.ruleSetId}`, extractorOf(prices));
    await this.must(200, 'POST', `/extractor-rule-sets/${this.ruleSetId}/publish`);
  }

  /** Accepts events that occurred some seconds ago; returns their ids. */
  async send(contents: readonly TestContent[], agoS = 100, keys: readonly string[] = []): Promise<string[]> {
    const events = contents.map((raw_json, index) => ({
      extractor_rule_set_id: this.ruleSetId,
      idempotency_key: keys[index] ?? `key-${this.#keys++}`,
      occurred_at: this.fixture.nowS - agoS,
      raw_json,
    }));
    const body = { source: 'test', events };
    return (await this.must(202, 'POST', '/events/batch-ingest', body)).raw_event_ids;
  }

  /** Accepts events, rates them, and copies them into ClickHouse. */
  async sendAndRate(contents: readonly TestContent[], agoS = 100): Promise<string[]> {
    const ids = await this.send(contents, agoS);
    await this.fixture.settle();
    return ids;
  }

  /** Creates an account to which a subject is routed. */
  async route(
    subjectId: string,
    planId?: string,
  ): Promise<{ readonly id: string; readonly accountId: string }> {
    const { id: accountId } = await this.must(201, 'POST', '/accounts', { name: subjectId });
    const { id } = await this.must(201, 'POST', '/subject-routes', {
      subject_type: 'customer',
      subject_id: subjectId,
      account_id: accountId,
      ...(planId === undefined ? {} : { usage_limit_plan_id: planId }),
    });
    return { id, accountId };
  }

  /** A filter of all events. */
  get everything() {
    const { nowS } = this.fixture;
    return { from: nowS - PAST_S, to: nowS + AHEAD_S };
  }

  /** Starts a correction; it does nothing yet. */
  async start(request: Partial<CorrectionRequest>): Promise<string> {
    const body = { action: 'rerate', filter: this.everything, reason: 'test', ...request };
    return (await this.must(202, 'POST', '/usage/corrections', body)).id;
  }

  /** Starts a correction, and returns it when it has ended. */
  async correct(request: Partial<CorrectionRequest>): Promise<Correction> {
    return this.ended(await this.start(request));
  }

  /** Voids an event; returns the correction when it has ended. */
  async void(eventId: string): Promise<Correction> {
    const path = `/usage/events/${eventId}/void`;
    return this.ended((await this.must(202, 'POST', path, { reason: 'void' })).correction_id);
  }

  async replace(eventId: string, raw_json: TestContent): Promise<Correction> {
    const path = `/usage/events/${eventId}/replace`;
    return this.ended((await this.must(202, 'POST', path, { raw_json, reason: 'replace' })).correction_id);
  }

  /** Applies or reverts a correction; returns it when it has ended. */
  async change(id: string, verb: 'apply' | 'revert'): Promise<Correction> {
    await this.must(202, 'POST', `/usage/corrections/${id}/${verb}`);
    return this.ended(id);
  }

  async ended(id: string): Promise<Correction> {
    await this.fixture.finish();
    return this.correction(id);
  }

  correction(id: string): Promise<Correction> {
    return this.get(`/usage/corrections/${id}`);
  }

  event(id: string): Promise<Json> {
    return this.get(`/usage/events/${id}`);
  }

  /** Returns the balance of an account's wallet, of the one currency that a test uses. */
  async balance(accountId: string, currency = 'USD'): Promise<string | undefined> {
    const { wallets } = await this.get(`/accounts/${accountId}/wallets`);
    return wallets.find((wallet: { currency: string }) => wallet.currency === currency)?.balance;
  }

  async ingestStatus(): Promise<Json> {
    return this.get('/usage/ingest-status');
  }
}

function extractorOf({ token, isStrict = false, onUnpriced = 'accept' }: TestPrices): object {
  const number = (metric: string, path: string, unit: string) => ({ metric, path, type: 'number', unit });
  return {
    subject: { default_type: 'customer', id_path: 'customer' },
    dimensions: [{ name: 'model', path: 'model', type: 'string', required: isStrict }],
    on_unpriced: onUnpriced,
    effective_from: RULES_FROM_S,
    charge_item_extractors: [
      { ...number('llm.tokens', 'n', 'token'), unit_price_expr: `dec("${token}")`, currency: 'USD' },
      { ...number('llm.calls', 'calls', 'call'), unit_price_expr: 'dec("2")', currency: 'EUR' },
      number('net.bytes', 'bytes', 'byte'),
    ],
  };
}
