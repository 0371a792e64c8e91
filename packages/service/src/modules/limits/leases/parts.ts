import type { ErrorDetail } from '@tollgate/contract';
import { DomainError, invalidRequest } from '../../../kernel/errors.js';
import { present, sumOrNone } from '../../../kernel/present.js';
import { amountText } from '../../ledger/index.js';
import type { RuleAtLevel } from '../check/limit-status.js';
import { areSameSubject, type LimitedSubject, type SubjectLevel } from '../rules/route-rules.js';
import { type AskedHold, type Hold, type HoldUnit, type Lease, type LeaseInput, unitKey } from './lease.js';
import { heldRule, heldRuleKey } from './lease-changes.js';
import { boundedDimensions } from './lease-input.js';

/** Upper bound of the leases that a lease is a part of, one in the other. */
const LEASE_ANCESTORS_MAX = 32;

/** The fields of a request for a part of a lease that decide whether it may be one. */
interface PartRequest {
  readonly input: LeaseInput;
  readonly levels: readonly SubjectLevel[];
}

/**
 * Returns the input with the work of the parent lease, which a part of it has too, so that usage of the part is usage
 * of the parent.
 *
 * @throws DomainError `invalid_request` when the part asks for other work, or has too many dimensions with its parent's
 */
export function withWorkOf(parent: Lease, input: LeaseInput): LeaseInput {
  const { metric, dimensions } = parent;
  if (metric !== null && input.metric !== null && input.metric !== metric)
    throw invalidRequest('metric', `expected ${metric}, the metric of the parent lease`);
  for (const [name, text] of dimensions) {
    const asked = input.dimensions.get(name);
    if (asked !== undefined && asked !== text)
      throw invalidRequest(`dimensions.${name}`, `expected ${text}, as in the parent lease`);
  }
  return {
    ...input,
    metric: input.metric ?? metric,
    dimensions: boundedDimensions(new Map([...dimensions, ...input.dimensions])),
  };
}

/** Returns the levels of a subject that are below another subject; undefined when it is not below it. */
export function levelsBelow(
  levels: readonly SubjectLevel[],
  subject: LimitedSubject,
  above: LimitedSubject,
): readonly SubjectLevel[] | undefined {
  if (areSameSubject(subject, above)) return [];
  const at = levels.findIndex((level) => areSameSubject(level.subject, above));
  return at < 0 ? undefined : levels.slice(0, at);
}

/** @throws DomainError `invalid_request` for a lease of which the subject cannot take a part */
export function refuseUnfit({ input: { subject }, levels }: PartRequest, parent: Lease): void {
  const refuse = (expected: string) => invalidRequest('parent_lease_id', `expected ${expected}`);
  if (levelsBelow(levels, subject, parent.subject) === undefined)
    throw refuse(`a lease of ${subject.type} ${subject.id}, or of a subject above it`);
  const payer = levels[0]?.route.account.id;
  if (payer !== undefined && parent.accountId !== null && payer !== parent.accountId)
    throw refuse(`a lease of account ${payer}, which pays for the subject`);
  if (parent.ancestorIds.length >= LEASE_ANCESTORS_MAX)
    throw refuse(`a lease that is part of fewer than ${LEASE_ANCESTORS_MAX} others`);
}

/** @throws DomainError `lease_exceeded` when the parent does not hold what is asked of it */
export function refuseMoreThanLeft({ isPlain, holds }: LeaseInput, parent: Lease): void {
  const details = holds.flatMap((asked, index): ErrorDetail[] => {
    const left = holdOf(parent, asked)?.held;
    if (left !== undefined && asked.amount <= left) return [];
    const remaining = amountText(sumOrNone(left));
    return [
      {
        path: isPlain ? 'amount' : `holds[${index}].${asked.kind}`,
        message: `${remaining} ${asked.unit} remain of the parent lease`,
        ...(asked.kind === 'amount' ? { currency: asked.unit } : { metric: asked.unit }),
        available_amount: remaining,
        asked_amount: amountText(asked.amount),
      },
    ];
  });
  if (details.length > 0) throw new DomainError('lease_exceeded', { details });
}

/** Returns the rules to reserve a part of that the parent is not reserved of. */
export function rulesBeside(
  parent: Lease,
  { input, rules }: { readonly input: LeaseInput; readonly rules: readonly (readonly RuleAtLevel[])[] },
): RuleAtLevel[][] {
  return input.holds.map((asked, index) => {
    const held = new Set(holdOf(parent, asked)?.rules.map(heldRuleKey));
    const found = present(rules[index], 'the rules of a hold');
    return found.filter((rule) => !held.has(heldRuleKey(heldRule(rule))));
  });
}

/** Returns a new lease as a part of another one: held by its rules and wallets, and not living longer. */
export function partOf(parent: Lease, lease: Lease): Lease {
  return {
    ...lease,
    accountId: parent.accountId,
    holds: lease.holds.map((hold): Hold => {
      const { rules, holdsWallet } = present(holdOf(parent, hold), 'the hold of the parent');
      return { ...hold, rules: [...hold.rules, ...rules], holdsWallet };
    }),
    slots: [],
    ancestorIds: [parent.id, ...parent.ancestorIds],
    expiresAt: Math.min(lease.expiresAt, parent.expiresAt),
  };
}

function holdOf({ holds }: Lease, asked: HoldUnit | AskedHold): Hold | undefined {
  return holds.find((hold) => unitKey(hold) === unitKey(asked));
}
