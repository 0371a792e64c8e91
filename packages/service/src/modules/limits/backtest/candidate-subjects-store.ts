import type { ProjectDb } from '../../../platform/postgres/index.js';
import { EVERY_SUBJECT, type LimitedSubject } from '../rules/route-rules.js';

/** The subjects whose usage a backtest may count. */
export interface CandidateSubjects {
  readonly types: readonly string[];
  /** Undefined where there are too many to name: those of a `*` route, or of very many routes. */
  readonly subjects: readonly LimitedSubject[] | undefined;
}

/** Upper bound of the subjects that a query of the history names. */
const SUBJECTS_NAMED_MAX = 100;

/** Returns the subjects of the routes that are bound to a plan. */
export async function readPlanSubjects(db: ProjectDb, planId: string): Promise<CandidateSubjects> {
  const found = db.part`from subject_routes where ${db.isOwn()} and usage_limit_plan_id = ${planId}`;
  const types = await db.rows<{ subject_type: string }>`select distinct subject_type ${found} order by 1`;
  const subjects = await db.rows<LimitedSubject>`
    select subject_type as type, subject_id as id ${found} order by 1, 2 limit ${SUBJECTS_NAMED_MAX + 1}`;
  const areNamed = subjects.length <= SUBJECTS_NAMED_MAX && subjects.every(({ id }) => id !== EVERY_SUBJECT);
  return {
    types: types.map(({ subject_type: type }) => type),
    subjects: areNamed ? subjects : undefined,
  };
}
