import { EVENT_ID_BYTES } from '../../platform/queue/index.js';
import { NOT_POSTED, type PostedFields } from '../limits/index.js';
import { UsageBlock, type UsageEventRow } from '../usage/index.js';
import type { BatchSection, FailedEvent } from './batch-store.js';
import type { AcceptedEvent, EventGroup } from './event.js';
import { type BatchEvent, DEFECT, type DefectListener } from './rating.js';
import type { ChangedProject } from './totals.js';

/** Returns the row of `usage_events`. */
export function rowOf(
  group: EventGroup,
  event: AcceptedEvent,
  rated: BatchEvent,
  posted: PostedFields,
  excludedDimensions: readonly string[],
  processedAtMs: number,
): UsageEventRow {
  const { envelope, subject, failure } = rated;
  const idAt = event.index * EVENT_ID_BYTES;
  return {
    tenantId: group.tenantId,
    projectId: group.projectId,
    rawEventId: group.ids.subarray(idAt, idAt + EVENT_ID_BYTES),
    occurredAt: rated.occurredAt,
    attempt: group.attempt,
    corrections: group.corrections,
    isReversal: false,
    correctionId: group.correctionId,
    receivedAtMs: group.receivedAtMs,
    processedAtMs,
    status: failure === undefined ? 'processed' : 'failed',
    posting: posted.posting,
    source: envelope.source,
    externalEventId: envelope.externalEventId,
    idempotencyKey: envelope.idempotencyKey,
    subjectType: subject?.type ?? '',
    subjectId: subject?.id ?? '',
    parents: posted.parents,
    subjectIsSent: envelope.facts.subject !== undefined,
    accountId: posted.accountId,
    budgetLeaseId: envelope.budgetLeaseId,
    leaseStatus: posted.leaseStatus,
    extractorRuleSetId: envelope.extractorRuleSetId,
    extractorVersion: rated.extractorVersion,
    dimensions: rated.dimensions,
    excludedDimensions,
    failureCode: failure?.code ?? '',
    failureMessage: failure?.message ?? '',
    failurePath: failure?.path ?? '',
    rawJson: envelope.rawJsonText,
    metadata: envelope.metadata,
    xBilling: envelope.xBilling,
    notes: rated.notes.length === 0 ? '' : JSON.stringify(rated.notes),
    items: rated.items,
    itemTransactionIds: posted.itemTransactionIds,
  };
}

/**
 * Adds the row or, if a column cannot hold one of its values, the row of a failed event. Returns the row that was
 * added.
 */
export function addOrFail(
  block: UsageBlock,
  event: AcceptedEvent,
  row: UsageEventRow,
  onDefect: DefectListener,
): UsageEventRow {
  try {
    block.add(row);
    return row;
  } catch (error) {
    onDefect(error, event);
    const failed = defectRow(row);
    block.add(failed);
    return failed;
  }
}

/** Returns the row of a failed event in place of a row that ClickHouse cannot store. */
function defectRow(row: UsageEventRow): UsageEventRow {
  const { code, message, path } = DEFECT;
  return {
    ...row,
    status: 'failed',
    ...NOT_POSTED,
    dimensions: new Map(),
    excludedDimensions: [],
    notes: '',
    failureCode: code,
    failureMessage: message,
    failurePath: path,
    items: [],
  };
}

/** Returns the failed event to store for a row that says so. */
export function failedEventOf(group: EventGroup, event: AcceptedEvent, row: UsageEventRow): FailedEvent {
  return {
    tenantId: group.tenantId,
    projectId: group.projectId,
    idHex: event.idHex,
    occurredAt: row.occurredAt,
    receivedAtMs: group.receivedAtMs,
    extractorRuleSetId: row.extractorRuleSetId,
    failureCode: row.failureCode,
    attempt: group.attempt,
    event: group.body.storedText(event.index),
    correctionId: group.correctionId,
  };
}

/** The rows of one project that has tables of its own. */
interface OwnRows {
  readonly projectId: string;
  readonly block: UsageBlock;
}

/** Sorts the rows of a batch by the tables they go to. */
export class BatchSections {
  readonly #shared: UsageBlock;
  /** By project number. */
  readonly #own = new Map<number, OwnRows>();

  /** @param shared for the shared tables */
  constructor(shared: UsageBlock) {
    this.#shared = shared;
  }

  /** Returns the block for the rows of a group. */
  blockOf({ storage, projectId, projectNo }: EventGroup): UsageBlock {
    if (storage === 'shared') return this.#shared;
    let own = this.#own.get(projectNo);
    if (own === undefined) {
      own = { projectId, block: new UsageBlock() };
      this.#own.set(projectNo, own);
    }
    return own.block;
  }

  /** Returns the contents of the blocks, the shared one first, without empty ones. */
  all(projects: readonly ChangedProject[]): BatchSection[] {
    const owners = new Set(Array.from(this.#own.values(), ({ projectId }) => projectId));
    const sharing = projects.filter(({ projectId }) => !owners.has(projectId));
    const sections = [sectionOf(null, this.#shared, sharing)];
    for (const [projectNo, { projectId, block }] of this.#own) {
      const own = projects.filter((project) => project.projectId === projectId);
      sections.push(sectionOf(projectNo, block, own));
    }
    return sections.filter(({ eventCount }) => eventCount > 0);
  }
}

function sectionOf(
  dedicatedTo: number | null,
  block: UsageBlock,
  projects: readonly ChangedProject[],
): BatchSection {
  const { eventCount, itemCount } = block;
  return { dedicatedTo, eventCount, itemCount, projects, rows: block.bytes() };
}
