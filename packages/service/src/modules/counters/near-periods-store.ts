import { sql } from 'kysely';
import type { TimeWindow } from '../../kernel/period.js';
import { present } from '../../kernel/present.js';
import { bigintArray, byteaArray, type Tx } from '../../platform/postgres/index.js';
import { type Counter, KEY_BYTES } from './counter.js';

/** A window of a counter. */
export interface CounterWindow {
  readonly counter: Counter;
  readonly key: Buffer;
  /** Unix seconds. */
  readonly startS: number;
  /** Exclusive. */
  readonly endS: number;
}

interface NearPeriodRow {
  readonly position: number;
  readonly startS: number;
  readonly endS: number;
}

/**
 * Returns for each window the last stored period that begins before it, and the first one that begins after its end.
 */
export async function readNearPeriods(tx: Tx, windows: readonly CounterWindow[]): Promise<TimeWindow[][]> {
  const near = windows.map((): TimeWindow[] => []);
  if (windows.length === 0) return near;
  const column = <T>(value: (window: CounterWindow) => T) => windows.map(value);
  const { rows } = await sql<NearPeriodRow>`
    select v.position::integer, n.period_start as "startS", n.period_end as "endS"
    from unnest(${column(({ counter }) => counter.scope.projectId)}::text[],
      ${byteaArray(
        column(({ key }) => key),
        KEY_BYTES,
      )}::bytea[],
      ${bigintArray(column(({ startS }) => startS))}::bigint[], ${bigintArray(column(({ endS }) => endS))}::bigint[]
    ) with ordinality as v (project_id, key, start_s, end_s, position)
    cross join lateral (
      (select c.period_start, c.period_end from usage_counters c
        where c.project_id = v.project_id and c.key = v.key and c.period_start < v.start_s
        order by c.period_start desc limit 1)
      union all
      (select c.period_start, c.period_end from usage_counters c
        where c.project_id = v.project_id and c.key = v.key and c.period_start >= v.end_s
        order by c.period_start limit 1)
    ) n
  `.execute(tx);
  for (const { position, startS, endS } of rows)
    present(near[position - 1], 'the window of a row').push({ startS, endS });
  return near;
}
