import type { LeaseStatus } from '@tollgate/contract';
import { present } from '../../../kernel/present.js';
import { amountFromText, amountText } from '../../ledger/index.js';
import { areSameSubject, type LimitedSubject } from '../rules/route-rules.js';
import type { Hold, HoldUnit, Lease } from './lease.js';
import type { HeldRule } from './reserved-store.js';

/** A lease as it is stored. */
export interface LeaseRow {
  readonly tenant_id: string;
  readonly project_id: string;
  readonly id: string;
  readonly subject_type: string;
  readonly subject_id: string;
  readonly account_id: string | null;
  /** The columns of the amount; empty and 0 for a lease with `holds`. */
  readonly currency: string;
  readonly amount: string;
  readonly used: string;
  readonly held: string;
  readonly rule_nos: readonly number[];
  /** Null where all rules are those of the lease's own subject. */
  readonly rule_subject_types: readonly string[] | null;
  readonly rule_subject_ids: readonly string[] | null;
  readonly holds_wallet: boolean;
  /** Null for a lease of one amount. */
  readonly holds: readonly StoredHold[] | null;
  readonly metric: string | null;
  readonly dimensions: Readonly<Record<string, string>> | null;
  /** Null for no slots; so are the subjects. */
  readonly slot_rule_nos: readonly number[] | null;
  readonly slot_subject_types: readonly string[] | null;
  readonly slot_subject_ids: readonly string[] | null;
  /** The nearest first; null for none. */
  readonly ancestor_ids: readonly string[] | null;
  /** Null for false. */
  readonly has_children: boolean | null;
  readonly status: LeaseStatus;
  readonly expires_at: number;
  readonly created_at: number;
  readonly closed_at: number | null;
}

interface StoredHold extends HoldUnit {
  readonly amount: string;
  readonly used: string;
  readonly held: string;
  readonly holds_wallet: boolean;
  readonly rules: readonly {
    readonly rule_no: number;
    readonly subject_type: string;
    readonly subject_id: string;
  }[];
}

type PlainColumns = Pick<
  LeaseRow,
  | 'currency'
  | 'amount'
  | 'used'
  | 'held'
  | 'rule_nos'
  | 'rule_subject_types'
  | 'rule_subject_ids'
  | 'holds_wallet'
>;

export function toLease(row: LeaseRow): Lease {
  const subject = { type: row.subject_type, id: row.subject_id };
  return {
    id: row.id,
    tenantId: row.tenant_id,
    projectId: row.project_id,
    subject,
    accountId: row.account_id,
    metric: row.metric,
    dimensions: new Map(Object.entries(row.dimensions ?? {})),
    isPlain: row.holds === null,
    holds: row.holds === null ? [plainHold(row, subject)] : row.holds.map(toHold),
    slots: heldRules(row.slot_rule_nos ?? [], row.slot_subject_types, row.slot_subject_ids, subject),
    ancestorIds: row.ancestor_ids ?? [],
    hasChildren: row.has_children ?? false,
    status: row.status,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    closedAt: row.closed_at,
  };
}

function plainHold(row: PlainColumns, subject: LimitedSubject): Hold {
  return {
    kind: 'amount',
    unit: row.currency,
    amount: amountFromText(row.amount),
    used: amountFromText(row.used),
    held: amountFromText(row.held),
    rules: heldRules(row.rule_nos, row.rule_subject_types, row.rule_subject_ids, subject),
    holdsWallet: row.holds_wallet,
  };
}

/** @param own the subject of all rules where no subjects are stored */
export function heldRules(
  ruleNos: readonly number[],
  types: readonly string[] | null,
  ids: readonly string[] | null,
  own: LimitedSubject,
): HeldRule[] {
  return ruleNos.map((ruleNo, index) => {
    if (types === null || ids === null) return { ruleNo, subject: own };
    const type = present(types[index], 'the subject of a rule');
    return { ruleNo, subject: { type, id: present(ids[index], 'the subject of a rule') } };
  });
}

function toHold({ kind, unit, amount, used, held, holds_wallet: holdsWallet, rules }: StoredHold): Hold {
  return {
    kind,
    unit,
    amount: amountFromText(amount),
    used: amountFromText(used),
    held: amountFromText(held),
    holdsWallet,
    rules: rules.map(({ rule_no: ruleNo, subject_type: type, subject_id: id }) => ({
      ruleNo,
      subject: { type, id },
    })),
  };
}

export function toLeaseRow(lease: Lease): LeaseRow {
  const [plain] = lease.isPlain ? lease.holds : [];
  return {
    tenant_id: lease.tenantId,
    project_id: lease.projectId,
    id: lease.id,
    subject_type: lease.subject.type,
    subject_id: lease.subject.id,
    account_id: lease.accountId,
    ...(plain === undefined ? NOT_PLAIN : plainColumns(plain, lease.subject)),
    holds: lease.isPlain ? null : lease.holds.map(toStoredHold),
    metric: lease.metric,
    dimensions: lease.dimensions.size === 0 ? null : Object.fromEntries(lease.dimensions),
    ...slotColumns(lease.slots),
    ancestor_ids: lease.ancestorIds.length === 0 ? null : lease.ancestorIds,
    has_children: lease.hasChildren ? true : null,
    status: lease.status,
    expires_at: lease.expiresAt,
    created_at: lease.createdAt,
    closed_at: lease.closedAt,
  };
}

const NOT_PLAIN: PlainColumns = {
  currency: '',
  amount: '0',
  used: '0',
  held: '0',
  rule_nos: [],
  rule_subject_types: null,
  rule_subject_ids: null,
  holds_wallet: false,
};

function plainColumns(
  { unit, amount, used, held, rules, holdsWallet }: Hold,
  own: LimitedSubject,
): PlainColumns {
  const isOwn = rules.every(({ subject }) => areSameSubject(subject, own));
  return {
    currency: unit,
    amount: amountText(amount),
    used: amountText(used),
    held: amountText(held),
    rule_nos: rules.map(({ ruleNo }) => ruleNo),
    rule_subject_types: isOwn ? null : rules.map(({ subject }) => subject.type),
    rule_subject_ids: isOwn ? null : rules.map(({ subject }) => subject.id),
    holds_wallet: holdsWallet,
  };
}

function toStoredHold({ kind, unit, amount, used, held, holdsWallet, rules }: Hold): StoredHold {
  return {
    kind,
    unit,
    amount: amountText(amount),
    used: amountText(used),
    held: amountText(held),
    holds_wallet: holdsWallet,
    rules: rules.map(({ ruleNo, subject }) => ({
      rule_no: ruleNo,
      subject_type: subject.type,
      subject_id: subject.id,
    })),
  };
}

function slotColumns(
  slots: Lease['slots'],
): Pick<LeaseRow, 'slot_rule_nos' | 'slot_subject_types' | 'slot_subject_ids'> {
  if (slots.length === 0) return { slot_rule_nos: null, slot_subject_types: null, slot_subject_ids: null };
  return {
    slot_rule_nos: slots.map(({ ruleNo }) => ruleNo),
    slot_subject_types: slots.map(({ subject }) => subject.type),
    slot_subject_ids: slots.map(({ subject }) => subject.id),
  };
}
