import type { ErrorDetail, ExtractorConfig, ExtractorRuleSetInput, RuleSetStatus } from '@tollgate/contract';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { newId } from '../../kernel/id.js';
import { ApiError, type Page, type Principal, type ProjectRef } from '../../platform/http/index.js';
import { type Postgres, type Tx, transaction } from '../../platform/postgres/index.js';
import { audit } from '../tenancy/index.js';
import { compileExtractor } from './extract/index.js';
import type { RuleSetPublications } from './publications.js';
import * as store from './store.js';

/** Who asks for a change, where, and in which request. */
export interface ChangeContext {
  readonly project: ProjectRef;
  readonly principal: Principal;
  readonly requestId: string;
}

export interface RuleSetServiceDeps {
  readonly postgres: Postgres;
  readonly clock: Clock;
  readonly publications: Pick<RuleSetPublications, 'forget'>;
}

type Action = 'create' | 'update' | 'publish' | 'archive';

/** Extractor rule sets: one id, many versions, of which only the newest can be a draft. See README.md. */
export class RuleSetService {
  constructor(private readonly deps: RuleSetServiceDeps) {}

  /** @throws ApiError `invalid_request` with every place that does not compile. */
  async create(context: ChangeContext, input: ExtractorRuleSetInput): Promise<store.StoredVersion> {
    const config = checkedConfig(input);
    const ruleSetId = newId('ers', this.deps.clock);
    return this.change(context, ruleSetId, 'create', async (tx, now) => {
      const draft = draftOf(input, config, 1, now);
      await store.insertRuleSet(tx, context.project, ruleSetId, now);
      await store.insertDraft(tx, context.project, ruleSetId, draft);
      return input;
    });
  }

  /**
   * Replaces the draft, or opens the next version as a draft when the newest one is published.
   *
   * @throws ApiError `invalid_request`, `rule_set_not_found`, `rule_set_archived`.
   */
  async update(
    context: ChangeContext,
    ruleSetId: string,
    input: ExtractorRuleSetInput,
  ): Promise<store.StoredVersion> {
    const config = checkedConfig(input);
    return this.change(context, ruleSetId, 'update', async (tx, now) => {
      const newest = await lockUnarchived(tx, context.project, ruleSetId);
      if (newest.published_at === null) {
        const draft = draftOf(input, config, newest.version, newest.created_at);
        await store.replaceDraft(tx, context.project, ruleSetId, draft);
      } else {
        const draft = draftOf(input, config, newest.version + 1, now);
        await store.insertDraft(tx, context.project, ruleSetId, draft);
      }
      return input;
    });
  }

  /** @throws ApiError `rule_set_not_found`, `rule_set_archived`, `nothing_to_publish`. */
  async publish(context: ChangeContext, ruleSetId: string): Promise<store.StoredVersion> {
    return this.change(context, ruleSetId, 'publish', async (tx, now) => {
      const newest = await lockUnarchived(tx, context.project, ruleSetId);
      if (newest.published_at !== null) throw new ApiError('nothing_to_publish');
      await store.markPublished(tx, context.project, ruleSetId, newest.version, now);
      return undefined;
    });
  }

  /**
   * Ends ingest into the rule set for good; what was accepted before is still rated. Archiving an archived one
   * changes nothing.
   *
   * @throws ApiError `rule_set_not_found`.
   */
  async archive(context: ChangeContext, ruleSetId: string): Promise<store.StoredVersion> {
    return this.change(context, ruleSetId, 'archive', async (tx, now) => {
      const newest = await lockNewest(tx, context.project, ruleSetId);
      if (newest.archived_at !== null) return UNCHANGED;
      await store.markArchived(tx, context.project, ruleSetId, now);
      return undefined;
    });
  }

  /** @throws ApiError `rule_set_not_found`, for an unknown version too. */
  async read(owner: store.RuleSetOwner, ruleSetId: string, version?: number): Promise<store.StoredVersion> {
    return found(await store.readVersion(this.deps.postgres.db, owner, ruleSetId, version));
  }

  async list(owner: store.RuleSetOwner, page: Page & { readonly status: RuleSetStatus | undefined }) {
    return store.listRuleSets(this.deps.postgres.db, owner, page);
  }

  /** @throws ApiError `rule_set_not_found`. */
  async listVersions(owner: store.RuleSetOwner, ruleSetId: string, page: Page) {
    const listed = await store.listVersions(this.deps.postgres.db, owner, ruleSetId, page);
    // Every rule set has a version.
    if (listed.totalCount === 0) throw new ApiError('rule_set_not_found');
    return listed;
  }

  /** One change, its revision and its audit entry, together or not at all; answers the newest version. */
  private async change(
    { project, principal, requestId }: ChangeContext,
    ruleSetId: string,
    action: Action,
    work: (tx: Tx, now: number) => Promise<object | undefined | typeof UNCHANGED>,
  ): Promise<store.StoredVersion> {
    const now = unixSeconds(this.deps.clock);
    const version = await transaction(this.deps.postgres, async (tx) => {
      const details = await work(tx, now);
      const after = found(await store.readVersion(tx, project, ruleSetId, undefined));
      if (details === UNCHANGED) return after;
      if (action !== 'create') await store.bumpRevision(tx, project, ruleSetId);
      await audit(tx, {
        tenantId: project.tenantId,
        projectId: project.projectId,
        principal,
        action: `extractor_rule_set.${action}`,
        resourceType: 'extractor_rule_set',
        resourceId: ruleSetId,
        change: { version: after.version, ...details },
        requestId,
        atMs: this.deps.clock.nowMs(),
      });
      return after;
    });
    this.deps.publications.forget(project, ruleSetId);
    return version;
  }
}

const UNCHANGED = Symbol('unchanged');

function found(version: store.StoredVersion | undefined): store.StoredVersion {
  if (version === undefined) throw new ApiError('rule_set_not_found');
  return version;
}

async function lockNewest(
  tx: Tx,
  owner: store.RuleSetOwner,
  ruleSetId: string,
): Promise<store.StoredVersion> {
  return found(await store.lockNewestVersion(tx, owner, ruleSetId));
}

async function lockUnarchived(
  tx: Tx,
  owner: store.RuleSetOwner,
  ruleSetId: string,
): Promise<store.StoredVersion> {
  const newest = await lockNewest(tx, owner, ruleSetId);
  if (newest.archived_at !== null) throw new ApiError('rule_set_archived');
  return newest;
}

function draftOf(
  input: ExtractorRuleSetInput,
  config: ExtractorConfig,
  version: number,
  createdAt: number,
): store.DraftValues {
  return {
    version,
    name: input.name ?? null,
    effectiveFrom: input.effective_from ?? createdAt,
    config,
    createdAt,
  };
}

/** The rating part of an input, once it is known to compile. */
function checkedConfig(input: ExtractorRuleSetInput): ExtractorConfig {
  const { name: _name, template_id: templateId, effective_from: _effectiveFrom, ...config } = input;
  const details: ErrorDetail[] = [];
  if (templateId !== undefined) details.push({ path: 'template_id', message: 'there is no such template' });
  const compiled = compileExtractor(config);
  if (!compiled.ok) details.push(...compiled.issues);
  const first = details[0];
  if (first === undefined) return config;
  const message = `The request is not valid: ${first.path}: ${first.message}.`;
  throw new ApiError('invalid_request', { message, details });
}
