export { readAuthors } from './correction-store.js';
export { type AdvanceDeps, advanceCorrections, type CorrectionJobDeps, createCorrectionJob } from './job.js';
export { createCorrectionProgressJob } from './progress.js';
export { Corrections, type CorrectionsDeps } from './requests.js';
export { registerCorrectionRoutes } from './routes.js';
