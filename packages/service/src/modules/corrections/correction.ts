import {
  CORRECTION_PLAN_DAYS,
  type CorrectionFilter,
  type CorrectionRules,
  type CorrectionStatus,
} from '@tollgate/contract';
import type { ProjectRef } from '../../kernel/scope.js';
import type { UsageEventRow } from '../usage/index.js';

/** For how long a plan can be applied. */
export const PLAN_MS = CORRECTION_PLAN_DAYS * 86_400_000;

/** The new content of an event: JSON texts as they were sent, empty where nothing was sent. */
export interface Replacement {
  readonly rawJson: string;
  readonly metadata: string;
  readonly xBilling: string;
  /** Null when the event names no subject. */
  readonly subject: { readonly type: string; readonly id: string } | null;
}

/** The request of a correction, as it is stored. */
export interface CorrectionInput {
  readonly filter: CorrectionFilter | null;
  readonly rules: CorrectionRules | null;
  readonly replacement: Replacement | null;
}

export type CorrectionAction = 'void' | 'replace' | 'rerate';

/** The work of planning and applying: to read events, to count their charge items, to go through the parts. */
export type CorrectionPhase = 'events' | 'counters' | 'parts';

/** A row of `usage_corrections`. */
export interface StoredCorrection {
  readonly id: string;
  readonly action: CorrectionAction;
  readonly status: CorrectionStatus;
  /** 32 hex digits. */
  readonly eventId: string | null;
  readonly request: CorrectionInput;
  readonly backtestId: string | null;
  readonly reason: string;
  readonly isAppliedAtOnce: boolean;
  /** Whether amounts by totals are posted as planned, or as the counters are when the correction is applied. */
  readonly counters: 'exact' | 'current';
  readonly phase: CorrectionPhase;
  readonly createdBy: string;
  readonly createdAtMs: number;
  readonly plannedAtMs: number | null;
  readonly appliedAtMs: number | null;
  readonly appliedBy: string | null;
  readonly revertedAtMs: number | null;
  readonly revertedBy: string | null;
  /** 32 hex digits: planning continues after this event. */
  readonly plannedUpTo: string | null;
  readonly eventsTotal: number | null;
  readonly eventsMatched: number;
  readonly eventsChanged: number;
  readonly eventsFailed: Readonly<Record<string, number>>;
  readonly eventsApplied: number;
  readonly partCount: number;
  readonly nextPart: number;
  readonly failureCode: string | null;
  readonly failureMessage: string | null;
}

/** A correction that a job works on. */
export interface OpenCorrection extends StoredCorrection {
  readonly project: ProjectRef;
}

/** The result of one step of a correction. */
export type StepResult =
  | 'done'
  /** ClickHouse does not have all rows yet: repeat the step in a moment. */
  | 'wait';

/** A plan that ends its correction as `failed`, with this code and message. */
export class PlanFailure extends Error {
  override readonly name = 'PlanFailure';

  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Another process has done the step. */
export class StepTakenError extends Error {
  override readonly name = 'StepTakenError';
}

/** Returns the id of a row's event: 32 hex digits. */
export function idOf({ rawEventId }: Pick<UsageEventRow, 'rawEventId'>): string {
  return Buffer.from(rawEventId).toString('hex');
}
