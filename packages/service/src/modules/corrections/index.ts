export { readAuthors } from './correction-store.js';
export { advanceCorrections, type CorrectionJobDeps, createCorrectionJob, type StepDeps } from './job.js';
export { createCorrectionProgressJob } from './progress.js';
export { Corrections, type CorrectionsDeps } from './requests.js';
export { registerCorrectionRoutes } from './routes.js';
