export { countedFrom, dimensionsOf, LimitReplay } from './limit-replay.js';
export { type PlanSubjects, readPlanSubjects } from './plan-subjects-store.js';
export { readTestedPlan, type TestedPlan, testedRules } from './tested-plan.js';
export { type TestedSubject, TestedSubjects, type TestedSubjectsParts } from './tested-subjects.js';
