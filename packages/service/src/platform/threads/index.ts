export { type Call, serveJobs } from './serve-jobs.js';
export { type CallHandlers, type StartTimer, ThreadPool, type ThreadPoolOptions } from './thread-pool.js';
