export { type Call, serveJobs } from './serve-jobs.js';
export { type CallHandlers, ThreadPool, type ThreadPoolOptions } from './thread-pool.js';
