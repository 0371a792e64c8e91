import type {
  AnalysisQuery,
  AnalysisResult,
  Backtest,
  BacktestPage,
  BacktestRequest,
  BatchIngest,
  BatchIngestAccepted,
  ExtractorRuleSet,
  ExtractorRuleSetInput,
  ExtractorRuleSetPage,
  ExtractorRuleSetVersionPage,
  IngestAccepted,
  IngestEvent,
  IngestStatus,
  MetricsResponse,
  PricingRuleSet,
  PricingRuleSetInput,
  PricingRuleSetPage,
  PricingRuleSetVersionPage,
  ReprocessRequest,
  ReprocessResponse,
  RuleSetStatus,
  RulesTestRequest,
  RulesTestResult,
  UsageEvent,
  UsageEventDetail,
  UsageEventList,
  UsageEventsQuery,
} from '@tollgate/contract';
import type { PageOptions } from './client.js';
import { path, type RequestOptions, type Transport } from './transport.js';

/** Rule sets, ingest, usage and analysis of one project. Throws ApiError and ConnectionError. */
export class ProjectClient {
  readonly #transport: Transport;

  constructor(
    transport: Transport,
    readonly projectId: string,
  ) {
    this.#transport = transport;
  }

  createRuleSet(ruleSet: ExtractorRuleSetInput): Promise<ExtractorRuleSet> {
    return this.#post('/extractor-rule-sets', ruleSet);
  }

  /** Rule sets, each by its newest version. */
  ruleSets(query: PageOptions & { readonly status?: RuleSetStatus } = {}): Promise<ExtractorRuleSetPage> {
    return this.#get('/extractor-rule-sets', { query: { ...query } });
  }

  /** One version of a rule set; the newest when none is named. */
  ruleSet(ruleSetId: string, version?: number): Promise<ExtractorRuleSet> {
    return this.#get(path`/extractor-rule-sets/${ruleSetId}`, { query: { version } });
  }

  /** Every version, newest first, with what it changed. */
  ruleSetVersions(ruleSetId: string, page: PageOptions = {}): Promise<ExtractorRuleSetVersionPage> {
    return this.#get(path`/extractor-rule-sets/${ruleSetId}/versions`, { query: { ...page } });
  }

  /** Replaces the draft, or opens the next version as one; what is published stays in force. */
  updateRuleSet(ruleSetId: string, ruleSet: ExtractorRuleSetInput): Promise<ExtractorRuleSet> {
    return this.#send('PUT', path`/extractor-rule-sets/${ruleSetId}`, ruleSet);
  }

  publishRuleSet(ruleSetId: string): Promise<ExtractorRuleSet> {
    return this.#post(path`/extractor-rule-sets/${ruleSetId}/publish`);
  }

  archiveRuleSet(ruleSetId: string): Promise<ExtractorRuleSet> {
    return this.#post(path`/extractor-rule-sets/${ruleSetId}/archive`);
  }

  createPricingRuleSet(ruleSet: PricingRuleSetInput): Promise<PricingRuleSet> {
    return this.#post('/pricing-rule-sets', ruleSet);
  }

  /** Pricing rule sets, each by its newest version. */
  pricingRuleSets(
    query: PageOptions & { readonly status?: RuleSetStatus; readonly extractor_rule_set_id?: string } = {},
  ): Promise<PricingRuleSetPage> {
    return this.#get('/pricing-rule-sets', { query: { ...query } });
  }

  /** One version of a pricing rule set; the newest when none is named. */
  pricingRuleSet(ruleSetId: string, version?: number): Promise<PricingRuleSet> {
    return this.#get(path`/pricing-rule-sets/${ruleSetId}`, { query: { version } });
  }

  /** Every version, newest first, with what it changed. */
  pricingRuleSetVersions(ruleSetId: string, page: PageOptions = {}): Promise<PricingRuleSetVersionPage> {
    return this.#get(path`/pricing-rule-sets/${ruleSetId}/versions`, { query: { ...page } });
  }

  /** Replaces the draft, or opens the next version as one; what is published stays in force. */
  updatePricingRuleSet(ruleSetId: string, ruleSet: PricingRuleSetInput): Promise<PricingRuleSet> {
    return this.#send('PUT', path`/pricing-rule-sets/${ruleSetId}`, ruleSet);
  }

  publishPricingRuleSet(ruleSetId: string): Promise<PricingRuleSet> {
    return this.#post(path`/pricing-rule-sets/${ruleSetId}/publish`);
  }

  archivePricingRuleSet(ruleSetId: string): Promise<PricingRuleSet> {
    return this.#post(path`/pricing-rule-sets/${ruleSetId}/archive`);
  }

  /** What the named rules make of one event. Stores nothing. */
  testRules(test: RulesTestRequest): Promise<RulesTestResult> {
    return this.#post('/rules/test', test);
  }

  /** Rates stored events by the named rules and compares. It may still be running: then ask for it by its id. */
  startBacktest(request: BacktestRequest): Promise<Backtest> {
    return this.#post('/rules/backtest', request);
  }

  /** Newest first, without what was asked and found. */
  backtests(page: PageOptions = {}): Promise<BacktestPage> {
    return this.#get('/rules/backtests', { query: { ...page } });
  }

  /** Its progress while it runs, then its result. */
  backtest(backtestId: string): Promise<Backtest> {
    return this.#get(path`/rules/backtests/${backtestId}`);
  }

  /** Ends a running backtest; one that has ended stays as it is. */
  cancelBacktest(backtestId: string): Promise<Backtest> {
    return this.#send('DELETE', path`/rules/backtests/${backtestId}`);
  }

  /** Sends one event. It is durable when this returns, and rated soon after. */
  ingest(ruleSetId: string, event: IngestEvent): Promise<IngestAccepted> {
    return this.#post(path`/extractor-rule-sets/${ruleSetId}/events/ingest`, event);
  }

  /** Sends many events: all are accepted, or none. */
  batchIngest(batch: BatchIngest): Promise<BatchIngestAccepted> {
    return this.batchIngestText(JSON.stringify(batch));
  }

  /** As `batchIngest`, with a body that is JSON text already; numbers in it keep every digit. */
  batchIngestText(body: string, signal?: AbortSignal): Promise<BatchIngestAccepted> {
    return this.#transport.request('POST', this.#path('/events/batch-ingest'), { body, signal });
  }

  /** One page of rated and failed events, newest first. */
  usageEvents(query: UsageEventsQuery = {}): Promise<UsageEventList> {
    return this.#get('/usage/events', { query: { ...query } });
  }

  /** Every event that matches, page after page, newest first. */
  async *allUsageEvents(query: Omit<UsageEventsQuery, 'cursor'> = {}): AsyncGenerator<UsageEvent, void> {
    let cursor: string | null = null;
    do {
      const page: UsageEventList = await this.usageEvents(cursor === null ? query : { ...query, cursor });
      yield* page.events;
      cursor = page.next_cursor;
    } while (cursor !== null);
  }

  /** One event with what was sent and how each number came about. */
  usageEvent(rawEventId: string): Promise<UsageEventDetail> {
    return this.#get(path`/usage/events/${rawEventId}`);
  }

  /** Rates a failed event again, by the rules as they are now. */
  reprocessEvent(rawEventId: string): Promise<ReprocessResponse> {
    return this.#post(path`/usage/events/${rawEventId}/reprocess`);
  }

  /** Rates the failed events of a time range again. */
  reprocessEvents(request: ReprocessRequest): Promise<ReprocessResponse> {
    return this.#post('/usage/events/reprocess', request);
  }

  ingestStatus(): Promise<IngestStatus> {
    return this.#get('/usage/ingest-status');
  }

  /** The metrics that have been used, with their dimensions. */
  metrics(): Promise<MetricsResponse> {
    return this.#get('/usage/metrics');
  }

  analyse(query: AnalysisQuery): Promise<AnalysisResult> {
    return this.#post('/analysis/query', query);
  }

  #get<Answer>(rest: string, options?: RequestOptions): Promise<Answer> {
    return this.#transport.request('GET', this.#path(rest), options);
  }

  #post<Answer>(rest: string, body?: unknown): Promise<Answer> {
    return this.#send('POST', rest, body);
  }

  #send<Answer>(method: string, rest: string, body?: unknown): Promise<Answer> {
    const options = body === undefined ? {} : { body: JSON.stringify(body) };
    return this.#transport.request(method, this.#path(rest), options);
  }

  #path(rest: string): string {
    return path`/v1/projects/${this.projectId}` + rest;
  }
}
