import type { BatchIngest, BatchIngestAccepted, IngestAccepted, IngestEvent } from '#contract';
import { type CallOptions, PathTransport } from './path-transport.js';
import { Accounts } from './resources/accounts.js';
import { Analysis } from './resources/analysis.js';
import { Boards } from './resources/boards.js';
import { BudgetLeases } from './resources/budget-leases.js';
import { Corrections } from './resources/corrections.js';
import { ExtractorRuleSets } from './resources/extractor-rule-sets.js';
import { PricingRuleSets } from './resources/pricing-rule-sets.js';
import { ProjectSettingsResource } from './resources/project-settings.js';
import { RealtimeLimits } from './resources/realtime-limits.js';
import { RuleTrials } from './resources/rule-trials.js';
import { SubjectRoutes } from './resources/subject-routes.js';
import { Usage } from './resources/usage.js';
import { UsageLimitPlans } from './resources/usage-limit-plans.js';
import { WebhookEndpoints } from './resources/webhook-endpoints.js';
import { path, type Transport } from './transport.js';

/** A client for one project: ingest here, everything else by resource. Throws ApiError and ConnectionError. */
export class ProjectClient {
  readonly extractorRuleSets: ExtractorRuleSets;
  readonly pricingRuleSets: PricingRuleSets;
  readonly ruleTrials: RuleTrials;
  readonly usage: Usage;
  readonly corrections: Corrections;
  readonly analysis: Analysis;
  readonly boards: Boards;
  readonly accounts: Accounts;
  readonly settings: ProjectSettingsResource;
  readonly subjectRoutes: SubjectRoutes;
  readonly usageLimitPlans: UsageLimitPlans;
  readonly realtimeLimits: RealtimeLimits;
  readonly budgetLeases: BudgetLeases;
  readonly webhookEndpoints: WebhookEndpoints;
  readonly #transport: PathTransport;

  constructor(
    transport: Transport,
    readonly projectId: string,
  ) {
    const inProject = new PathTransport(transport, path`/v1/projects/${projectId}`);
    this.extractorRuleSets = new ExtractorRuleSets(inProject);
    this.pricingRuleSets = new PricingRuleSets(inProject);
    this.ruleTrials = new RuleTrials(inProject);
    this.usage = new Usage(inProject);
    this.corrections = new Corrections(inProject);
    this.analysis = new Analysis(inProject);
    this.boards = new Boards(inProject);
    this.accounts = new Accounts(inProject);
    this.settings = new ProjectSettingsResource(inProject);
    this.subjectRoutes = new SubjectRoutes(inProject);
    this.usageLimitPlans = new UsageLimitPlans(inProject);
    this.realtimeLimits = new RealtimeLimits(inProject);
    this.budgetLeases = new BudgetLeases(inProject);
    this.webhookEndpoints = new WebhookEndpoints(inProject);
    this.#transport = inProject;
  }

  /** Sends one event. It is durable when this returns, and rated soon after. */
  ingest(ruleSetId: string, event: IngestEvent, options?: CallOptions): Promise<IngestAccepted> {
    return this.#transport.post(path`/extractor-rule-sets/${ruleSetId}/events/ingest`, event, options);
  }

  /** Sends many events: all are accepted, or none. */
  batchIngest(batch: BatchIngest, options?: CallOptions): Promise<BatchIngestAccepted> {
    return this.batchIngestText(JSON.stringify(batch), options?.signal);
  }

  /** The same as `batchIngest`, for a body that is JSON text already; its numbers keep every digit. */
  batchIngestText(body: string, signal?: AbortSignal): Promise<BatchIngestAccepted> {
    return this.#transport.postText('/events/batch-ingest', body, { signal });
  }
}
