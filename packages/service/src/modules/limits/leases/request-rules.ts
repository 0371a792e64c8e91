import { memoized } from '../../../kernel/maps.js';
import { countOrNone, present } from '../../../kernel/present.js';
import type { ProjectRef } from '../../../kernel/scope.js';
import type { RuleAtLevel } from '../check/limit-status.js';
import type { SubjectLimits } from '../check/subject-limits.js';
import { type LimitedSubject, type SubjectLevel, subjectKey } from '../rules/route-rules.js';
import type { ChangeRequest, OpenLeaseRequest, RuledRequest } from './decisions.js';
import { type HoldUnit, type LeaseInput, rulesOfHold } from './lease.js';
import { limitsOfLease, ruleCount } from './lease-size.js';
import { levelsBelow } from './parts.js';

/** Requests that are reserved of so many limits are decided together; more would keep other tenants waiting. */
const TOGETHER_LIMITS_MAX = 5_000;

/** A request for a new lease, or to change one. */
export type LeaseRequest = Grant | ChangeRequest;

type Grant = Omit<OpenLeaseRequest, 'levels' | 'rules' | 'slots'>;

export type LevelsOfSubjects = Pick<SubjectLimits, 'levelsOf'>;

/** Adds to requests the rules that they depend on. */
export async function withRules(
  limits: LevelsOfSubjects,
  project: ProjectRef,
  requests: readonly LeaseRequest[],
): Promise<RuledRequest[]> {
  const grants = requests.filter((request) => request.do === 'grant');
  const keyOf = ({ type, id }: LimitedSubject) => subjectKey(project.projectId, type, id);
  const subjects = new Map(grants.map(({ input: { subject } }) => [keyOf(subject), subject]));
  const levels = await limits.levelsOf(project.projectId, [...subjects.values()]);
  const rules = new Map(
    Array.from(subjects.keys(), (key, index) => [key, new RulesOfSubject(levels[index])]),
  );
  return requests.map((request): RuledRequest => {
    if (request.do !== 'grant') return request;
    return { ...request, ...present(rules.get(keyOf(request.input.subject)), 'the rules').of(request) };
  });
}

/** Splits requests, in their order, into parts that do not take long. */
export function partsOfGroup(requests: readonly RuledRequest[]): RuledRequest[][] {
  const parts: RuledRequest[][] = [];
  let limits = Number.POSITIVE_INFINITY;
  for (const request of requests) {
    const added = limitsOfRequest(request);
    if (limits + added > TOGETHER_LIMITS_MAX) {
      parts.push([]);
      limits = 0;
    }
    parts.at(-1)?.push(request);
    limits += added;
  }
  return parts;
}

function limitsOfRequest(request: RuledRequest): number {
  if (request.do === 'grant') return request.slots.length + ruleCount(request.rules);
  return countOrNone(request.found && limitsOfLease(request.found.lease));
}

/** The rules that leases of one subject are reserved of. Leases that hold alike get the same list. */
class RulesOfSubject {
  readonly #levels: readonly SubjectLevel[];
  readonly #slots: readonly RuleAtLevel[];
  /** By the unit of the hold and the metric of the lease. */
  readonly #known = new Map<string, readonly RuleAtLevel[]>();

  constructor(levels: readonly SubjectLevel[] = []) {
    this.#levels = levels;
    this.#slots = levels.flatMap((at) => at.route.rules.ofLeases.map((rule) => ({ at, rule })));
  }

  of({ input, parent }: Grant): Pick<OpenLeaseRequest, 'levels' | 'rules' | 'slots'> {
    const levels = this.#levels;
    if (parent === undefined && input.dimensions.size === 0)
      return { levels, rules: input.holds.map((hold) => this.#plain(hold, input)), slots: this.#slots };
    const asked = parent === undefined ? levels : (levelsBelow(levels, input.subject, parent.subject) ?? []);
    const rules = input.holds.map((hold) => rulesAt(asked, hold, input));
    return { levels, rules, slots: parent === undefined ? this.#slots : [] };
  }

  #plain(hold: HoldUnit, input: LeaseInput): readonly RuleAtLevel[] {
    const key = JSON.stringify([hold.kind, hold.unit, input.metric]);
    return memoized(this.#known, key, () => rulesAt(this.#levels, hold, input));
  }
}

function rulesAt(levels: readonly SubjectLevel[], hold: HoldUnit, input: LeaseInput): RuleAtLevel[] {
  return levels.flatMap((level) => rulesOfHold(level, hold, input));
}
