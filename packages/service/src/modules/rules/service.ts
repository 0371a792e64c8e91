import {
  type ExtractorConfig,
  type ExtractorRuleSetInput,
  PRICING_PURPOSE_DEFAULT,
  PRICING_RULE_SETS_IN_FORCE_MAX,
  type PricingConfig,
  type PricingRuleSetInput,
  type Warning,
} from '@tollgate/contract';
import type { ChangeContext } from '../../kernel/change-context.js';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { DomainError, invalidRequest } from '../../kernel/errors.js';
import { newId } from '../../kernel/id.js';
import type { ListPage, Page } from '../../kernel/page.js';
import type { ProjectScope } from '../../kernel/scope.js';
import { type Postgres, ProjectDb, ProjectTx, transaction } from '../../platform/postgres/index.js';
import { audit } from '../tenancy/index.js';
import { checkCounters, publishCounters, refuseCountedCosts } from './counter-check.js';
import { type VersionChanges, versionChanges } from './diff.js';
import type { CheckConfig, RuleSetKind, VersionInput } from './kinds.js';
import type { RuleSetPublications } from './publications.js';
import * as store from './store.js';

export interface RuleSetServiceDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly publications: Pick<RuleSetPublications, 'forget'>;
  readonly checkConfig: CheckConfig;
}

/** A version, and its differences from the previous one. */
export interface ComparedVersion<Config> {
  readonly version: store.StoredVersion<Config>;
  readonly changes: VersionChanges;
}

type Action = 'create' | 'update' | 'publish' | 'archive';

/** Rule sets of one kind: one id, many versions; only the newest can be a draft. See README.md. */
export class RuleSetService<Input extends VersionInput, Config extends object> {
  readonly #kind: RuleSetKind<Input, Config>;
  readonly #deps: RuleSetServiceDeps;

  constructor(kind: RuleSetKind<Input, Config>, deps: RuleSetServiceDeps) {
    this.#kind = kind;
    this.#deps = deps;
  }

  /**
   * @throws DomainError `invalid_request` with every place that does not compile; `rule_set_not_found` (400) and
   * `rule_set_archived` about the extractor rule set to bind to.
   */
  async create(context: ChangeContext, input: Input): Promise<store.StoredVersion<Config>> {
    const config = await this.#deps.checkConfig(context.project, this.#kind, input);
    if (input.purpose === 'cost') refuseCountedCosts(this.#kind.countersOf(config));
    const ruleSetId = newId(this.#kind.idPrefix, this.#deps.clock);
    const extractorRuleSetId = input.extractor_rule_set_id ?? null;
    return this.#change(context, ruleSetId, 'create', async (tx, now) => {
      if (extractorRuleSetId !== null) await lockBindable(tx, extractorRuleSetId);
      await store.insertRuleSet(tx, {
        id: ruleSetId,
        kind: this.#kind.name,
        extractorRuleSetId,
        purpose: input.purpose ?? PRICING_PURPOSE_DEFAULT,
        createdAt: now,
      });
      await store.insertDraft(tx, ruleSetId, draftOf(input, config, 1, now));
      return input;
    });
  }

  /**
   * Replaces the draft, or opens the next version as a draft when the newest one is published.
   *
   * @throws DomainError `invalid_request`, `counter_changed`, `rule_set_not_found`, `rule_set_archived`,
   * `pricing_purpose_fixed`.
   */
  async update(
    context: ChangeContext,
    ruleSetId: string,
    input: Input,
  ): Promise<store.StoredVersion<Config>> {
    const config = await this.#deps.checkConfig(context.project, this.#kind, input);
    return this.#change(context, ruleSetId, 'update', async (tx, now) => {
      const newest = await this.#lockUnarchived(tx, ruleSetId);
      if ((input.extractor_rule_set_id ?? null) !== newest.extractor_rule_set_id) {
        const message = `cannot be changed: expected ${newest.extractor_rule_set_id}`;
        throw invalidRequest('extractor_rule_set_id', message);
      }
      await checkCounters(tx, ruleSetId, this.#kind.countersOf(config));
      checkPurpose(input, newest);
      if (newest.purpose === 'cost') refuseCountedCosts(this.#kind.countersOf(config));
      if (newest.published_at === null) {
        const draft = draftOf(input, config, newest.version, newest.created_at);
        await store.replaceDraft(tx, ruleSetId, draft);
      } else {
        const draft = draftOf(input, config, newest.version + 1, now);
        await store.insertDraft(tx, ruleSetId, draft);
      }
      return input;
    });
  }

  /**
   * @throws DomainError `rule_set_not_found`, `rule_set_archived`, `nothing_to_publish`,
   * `pricing_rule_set_limit_reached`.
   */
  async publish(context: ChangeContext, ruleSetId: string): Promise<store.StoredVersion<Config>> {
    return this.#change(context, ruleSetId, 'publish', async (tx, now) => {
      const newest = await this.#lockUnarchived(tx, ruleSetId);
      if (newest.published_at !== null) throw new DomainError('nothing_to_publish');
      const { extractor_rule_set_id: boundTo } = newest;
      // The draft is the first version: the rule set starts to price.
      if (boundTo !== null && newest.version === 1) await checkRoom(tx, boundTo);
      await publishCounters(tx, ruleSetId, this.#kind.countersOf(newest.config));
      await store.markPublished(tx, ruleSetId, newest.version, now);
      // Only the newest version can be a draft, so the one before it is the newest that was published.
      const previous = await store.readVersion<Config>(tx, this.#kind.name, ruleSetId, newest.version - 1);
      return { previous_version: previous?.version ?? null, ...versionChanges(this.#kind, previous, newest) };
    });
  }

  /**
   * Ends ingest into an extractor rule set permanently; events that were accepted before are still rated. A pricing
   * rule set ends for events from now on. Archiving an archived rule set changes nothing.
   *
   * @throws DomainError `rule_set_not_found`.
   */
  async archive(context: ChangeContext, ruleSetId: string): Promise<store.StoredVersion<Config>> {
    return this.#change(context, ruleSetId, 'archive', async (tx, now) => {
      const newest = await this.#lockNewest(tx, ruleSetId);
      if (newest.archived_at !== null) return UNCHANGED;
      await store.markArchived(tx, ruleSetId, now);
      const publishedVersion = newest.published_at === null ? newest.version - 1 : newest.version;
      const ended = { published_version: publishedVersion === 0 ? null : publishedVersion };
      if (this.#kind.name === 'pricing')
        return { ...ended, extractor_rule_set_id: newest.extractor_rule_set_id };
      return { ...ended, pricing_rule_set_ids: await store.listPricing(tx, ruleSetId) };
    });
  }

  /** Returns warnings about a saved or published version; undefined for kinds without warnings. */
  async warningsAbout(version: store.StoredVersion<Config>): Promise<Warning[] | undefined> {
    const scope = { tenantId: version.tenant_id, projectId: version.project_id };
    return this.#kind.warningsAbout?.(this.#own(scope), version);
  }

  /** @throws DomainError `rule_set_not_found`, also for an unknown version. */
  async read(owner: ProjectScope, ruleSetId: string, version?: number): Promise<store.StoredVersion<Config>> {
    return found(await store.readVersion<Config>(this.#own(owner), this.#kind.name, ruleSetId, version));
  }

  async list(owner: ProjectScope, page: Page & store.ListFilter) {
    return store.listRuleSets<Config>(this.#own(owner), this.#kind.name, page);
  }

  /** @throws DomainError `rule_set_not_found`. */
  async listVersions(
    owner: ProjectScope,
    ruleSetId: string,
    page: Page,
  ): Promise<ListPage<ComparedVersion<Config>>> {
    // Reads one more than requested: the last one shown is compared with it.
    const { items, totalCount } = await store.listVersions<Config>(
      this.#own(owner),
      this.#kind.name,
      ruleSetId,
      { limit: page.limit + 1, offset: page.offset },
    );
    // Every rule set has a version.
    if (totalCount === 0) throw new DomainError('rule_set_not_found');
    const compared = items
      .slice(0, page.limit)
      .map((version, index) => ({ version, changes: versionChanges(this.#kind, items[index + 1], version) }));
    return { items: compared, totalCount };
  }

  /** One change, its revision and its audit entry, together or not at all; returns the newest version. */
  async #change(
    { project, principal, requestId }: ChangeContext,
    ruleSetId: string,
    action: Action,
    work: (tx: ProjectTx, now: number) => Promise<object | typeof UNCHANGED>,
  ): Promise<store.StoredVersion<Config>> {
    const now = unixSeconds(this.#deps.clock);
    const version = await transaction(this.#deps.postgres, async (tx) => {
      const own = new ProjectTx(tx, project);
      const details = await work(own, now);
      const after = found(await store.readVersion<Config>(own, this.#kind.name, ruleSetId, undefined));
      if (details === UNCHANGED) return after;
      await store.bumpRevision(own, extractorOf(after));
      await audit(tx, {
        tenantId: project.tenantId,
        projectId: project.projectId,
        principal,
        action: `${this.#kind.resourceType}.${action}`,
        resourceType: this.#kind.resourceType,
        resourceId: ruleSetId,
        change: { version: after.version, ...details },
        requestId,
        atMs: this.#deps.clock.nowMs(),
      });
      return after;
    });
    this.#deps.publications.forget(project, extractorOf(version));
    return version;
  }

  async #lockNewest(tx: ProjectTx, ruleSetId: string): Promise<store.StoredVersion<Config>> {
    return found(await store.lockNewestVersion<Config>(tx, this.#kind.name, ruleSetId));
  }

  async #lockUnarchived(tx: ProjectTx, ruleSetId: string): Promise<store.StoredVersion<Config>> {
    const newest = await this.#lockNewest(tx, ruleSetId);
    if (newest.archived_at !== null) throw new DomainError('rule_set_archived');
    return newest;
  }

  #own(scope: ProjectScope): ProjectDb {
    return new ProjectDb(this.#deps.postgres.db, scope);
  }
}

export type ExtractorRuleSetService = RuleSetService<ExtractorRuleSetInput, ExtractorConfig>;
export type PricingRuleSetService = RuleSetService<PricingRuleSetInput, PricingConfig>;

const UNCHANGED = Symbol('unchanged');

function found<Version>(version: Version | undefined): Version {
  if (version === undefined) throw new DomainError('rule_set_not_found');
  return version;
}

/** Returns the extractor rule set that a rule set is, or is bound to. */
function extractorOf({ id, extractor_rule_set_id: boundTo }: store.StoredVersion<object>): string {
  return boundTo ?? id;
}

/** Prices that were charged would otherwise become costs, or the other way round. */
function checkPurpose(
  { purpose: sent }: VersionInput,
  { purpose: fixed }: Pick<store.StoredVersion<object>, 'purpose'>,
): void {
  if (sent === undefined || sent === fixed) return;
  const details = [{ path: 'purpose', message: `cannot be changed: expected ${fixed}` }];
  throw new DomainError('pricing_purpose_fixed', { details });
}

/** Locks an extractor rule set to which a pricing rule set will be bound. */
async function lockBindable(tx: ProjectTx, extractorRuleSetId: string): Promise<void> {
  const path = 'extractor_rule_set_id';
  const extractor = await store.lockNewestVersion(tx, 'extractor', extractorRuleSetId);
  if (extractor === undefined) {
    const details = [{ path, message: 'expected an extractor rule set of this project' }];
    throw new DomainError('rule_set_not_found', { inBody: true, details });
  }
  if (extractor.archived_at !== null) {
    const details = [{ path, message: 'expected a rule set that is not archived' }];
    throw new DomainError('rule_set_archived', { details });
  }
}

/**
 * Bounds the pricing rule sets of an extractor rule set, because workers hold all of its prices at once. A publication
 * locks the row of that rule set, so concurrent ones cannot exceed the bound together.
 */
async function checkRoom(tx: ProjectTx, extractorRuleSetId: string): Promise<void> {
  const published = await store.listPricing(tx, extractorRuleSetId);
  if (published.length < PRICING_RULE_SETS_IN_FORCE_MAX) return;
  throw new DomainError('pricing_rule_set_limit_reached', {
    message: `${extractorRuleSetId} has ${published.length} published pricing rule sets, which is the maximum. Archive one, or add the rules to one of them.`,
  });
}

function draftOf<Config>(
  input: VersionInput,
  config: Config,
  version: number,
  createdAt: number,
): store.DraftValues<Config> {
  return {
    version,
    name: input.name ?? null,
    templateId: input.template_id ?? null,
    effectiveFrom: input.effective_from ?? createdAt,
    config,
    createdAt,
  };
}
