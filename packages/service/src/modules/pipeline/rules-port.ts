import type { Decimal } from '../../kernel/decimal.js';
import type { UsageItemRow } from '../usage/index.js';

export interface RatingInput {
  readonly rawJson: unknown;
  readonly occurredAt: number;
  readonly subject?: { readonly type: string; readonly id: string };
}

export type RatedEvent =
  | {
      readonly ok: true;
      readonly subject?: { readonly type: string; readonly id: string };
      readonly dimensions: ReadonlyMap<string, Decimal | string | boolean>;
      readonly items: readonly UsageItemRow[];
    }
  | {
      readonly ok: false;
      readonly failure: { readonly code: string; readonly message: string; readonly path: string };
      readonly subject?: { readonly type: string; readonly id: string };
      readonly dimensions: ReadonlyMap<string, Decimal | string | boolean>;
    };

export interface RuleVersion {
  readonly version: number;
  rate(input: RatingInput): RatedEvent;
}

export interface RuleSetRef {
  readonly projectId: string;
  readonly ruleSetId: string;
}

export interface RuleVersions {
  /** Brings what is known of these rule sets up to date; once per batch. */
  refresh(ruleSets: readonly RuleSetRef[]): Promise<void>;
  /** The version in force at `occurredAt`; undefined when none was ever published. */
  resolve(projectId: string, ruleSetId: string, occurredAt: number): RuleVersion | undefined;
}
