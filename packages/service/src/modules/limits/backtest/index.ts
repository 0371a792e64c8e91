export { type CandidateSubjects, readPlanSubjects } from './candidate-subjects-store.js';
export { countedFrom, dimensionsOf, LimitReplay } from './limit-replay.js';
export { readTestedPlan, type TestedPlan, testedRules } from './tested-plan.js';
export { type TestedSubject, TestedSubjects, type TestedSubjectsParts } from './tested-subjects.js';
