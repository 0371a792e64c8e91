import { writeFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';

const MEBIBYTE = 1_048_576;
/** Bounds of the engine's memory, because it shares the machine and the process with the service and PostgreSQL. */
const ENGINE_MEMORY_BYTES_MAX = 2_048 * MEBIBYTE;
const ENGINE_MEMORY_SHARE_MAX = 0.4;

/**
 * Merges come in bursts of seconds: threads for more than half of several processors would leave no room for requests.
 */
const MERGE_THREADS_SHARE_MAX = 0.5;
const MERGE_THREADS_MAX = 4;
/**
 * Lower bounds of the concurrent merges, which take turns on the threads, so that small parts are merged even while a
 * long merge runs.
 */
const MERGES_MIN = 4;
const MERGES_PER_THREAD_MIN = 2;

/**
 * Upper bounds of all threads, and of idle ones. Each thread that has run a query keeps three file descriptors open,
 * for its own statistics in /proc, until it ends. A query, an insert and merges take about a dozen.
 */
const THREADS_MAX = 200;
const IDLE_THREADS_MAX = 24;
/** Size of each pool for work on many parts or files. By default 128 threads delete merged parts, 100 at a time. */
const POOL_THREADS_MAX = 4;

/**
 * Interval at which the engine compares its own count of memory with the memory of the process. The engine's default of
 * 50 ms takes a quarter of a percent of a processor for no gain, because every allocation is counted anyway.
 */
const MEMORY_CHECK_MS = 250;

/** Writes the engine's configuration into the folder; returns the file's path. */
export function chdbConfigFile(folder: string): string {
  const path = join(folder, 'config.xml');
  writeFileSync(path, chdbConfig(totalmem(), availableParallelism()));
  return path;
}

/**
 * Returns the server configuration of the embedded engine: everything that cannot be a setting of a session. The
 * engine's own defaults assume a machine that runs nothing else: caches of 5 GiB each, and all of the memory.
 */
function chdbConfig(machineBytes: number, processors: number): string {
  const memoryBytes = Math.min(ENGINE_MEMORY_BYTES_MAX, Math.floor(machineBytes * ENGINE_MEMORY_SHARE_MAX));
  const mergeThreads = Math.min(
    MERGE_THREADS_MAX,
    Math.max(1, Math.floor(processors * MERGE_THREADS_SHARE_MAX)),
  );
  const values = {
    max_server_memory_usage: memoryBytes,
    mark_cache_size: 64 * MEBIBYTE,
    primary_index_cache_size: 64 * MEBIBYTE,
    index_mark_cache_size: 16 * MEBIBYTE,
    uncompressed_cache_size: 0,
    compiled_expression_cache_size: 16 * MEBIBYTE,
    mmap_cache_size: 0,
    max_thread_pool_size: THREADS_MAX,
    max_thread_pool_free_size: IDLE_THREADS_MAX,
    max_parts_cleaning_thread_pool_size: POOL_THREADS_MAX,
    max_active_parts_loading_thread_pool_size: POOL_THREADS_MAX,
    max_outdated_parts_loading_thread_pool_size: POOL_THREADS_MAX,
    max_unexpected_parts_loading_thread_pool_size: POOL_THREADS_MAX,
    max_prefixes_deserialization_thread_pool_size: POOL_THREADS_MAX,
    max_format_parsing_thread_pool_size: POOL_THREADS_MAX,
    max_io_thread_pool_size: POOL_THREADS_MAX,
    threadpool_local_fs_reader_pool_size: POOL_THREADS_MAX,
    load_marks_threadpool_pool_size: POOL_THREADS_MAX,
    background_pool_size: mergeThreads,
    background_merges_mutations_concurrency_ratio: Math.max(MERGES_PER_THREAD_MIN, MERGES_MIN / mergeThreads),
    memory_worker_period_ms: MEMORY_CHECK_MS,
    background_schedule_pool_size: 2,
    background_common_pool_size: 1,
    background_move_pool_size: 1,
    background_fetches_pool_size: 1,
  };
  const lines = Object.entries(values).map(([name, value]) => `  <${name}>${value}</${name}>\n`);
  return `<clickhouse>\n${lines.join('')}</clickhouse>\n`;
}
