// Windows of limits as arrays: one row per subject holds all its current windows. Off: one row per window, to which one
// statement adds. Both return the windows that reached an alert.

import { numericText } from '../../packages/service/dist/modules/ledger/amount.js';
import { CurrentWindows } from '../../packages/service/dist/modules/limits/windows/current-windows.js';
import {
  readCurrentWindows,
  writeCurrentWindows,
} from '../../packages/service/dist/modules/limits/windows/store.js';
import { quotedText } from '../../packages/service/dist/platform/postgres/arrays.js';
import { openEmbeddedStores } from '../embedded-stores.mjs';
import { cpuOf, inTurns } from './measure.mjs';

const SUBJECTS = 10_000;
const RULES = 4;
/** As in a batch of 20,000 events from 10,000 subjects. */
const EVENTS_PER_SUBJECT = 2;
const BATCHES = 3;
const USED = 12_345_600_000_000_000n;
const LIMIT = 10n ** 30n;

const usages = Array.from({ length: SUBJECTS }, (_, index) => ({
  scope: { projectNo: 1 },
  subject: { type: 'user', id: `user-${index}` },
}));
const RULE_NOS = Array.from({ length: RULES }, (_, index) => index + 1);

/** @returns µs per event of this process and of PostgreSQL */
export async function measureWindowArrays(rounds) {
  const stores = await openEmbeddedStores({ poolMax: 2, withClickHouse: false });
  const { postgres } = stores;
  try {
    await fill(postgres);
    return await inTurns(
      { on: () => perEvent(postgres, addToArrays), off: () => perEvent(postgres, addToRows) },
      rounds,
    );
  } finally {
    await stores.close();
  }
}

async function perEvent({ db }, add) {
  const before = cpuOf(process.pid);
  for (let batch = 0; batch < BATCHES; batch += 1) await db.transaction().execute(add);
  return (cpuOf(process.pid) - before) / (BATCHES * SUBJECTS * EVENTS_PER_SUBJECT);
}

async function addToArrays(tx) {
  const windows = await readCurrentWindows(tx, usages);
  const crossed = [];
  for (const current of windows) {
    for (const ruleNo of RULE_NOS) {
      const crossing = current.add({ rule: { ruleNo, notifyAt: [] }, used: USED });
      if (crossing !== undefined) crossed.push(crossing);
    }
  }
  await writeCurrentWindows(tx, windows);
  return crossed;
}

async function addToRows(tx) {
  const lists = { subjects: [], ruleNos: [], starts: [], used: [] };
  for (const { subject } of usages) {
    for (const ruleNo of RULE_NOS) {
      lists.subjects.push(quotedText(subject.id));
      lists.ruleNos.push(ruleNo);
      lists.starts.push(0);
      lists.used.push(numericText(USED));
    }
  }
  const literal = (list) => `{${list.join()}}`;
  const { rows } = await tx.getExecutor().executeQuery({
    sql: `with added as (
        update bench_windows w set used = w.used + v.used
        from unnest($1::text[], $2::integer[], $3::bigint[], $4::numeric[]) as v (subject_id, rule_no, window_start, used)
        where w.project_no = 1 and w.subject_type = 'user' and w.subject_id = v.subject_id and w.rule_no = v.rule_no
          and w.window_start = v.window_start
        returning w.subject_id, w.rule_no, w.used, w.next_notice
      ) select * from added where used >= next_notice`,
    parameters: [lists.subjects, lists.ruleNos, lists.starts, lists.used].map(literal),
    query: { kind: 'RawNode' },
  });
  return rows;
}

async function fill({ db, pool }) {
  await db.transaction().execute((tx) =>
    writeCurrentWindows(
      tx,
      usages.map((usage) => {
        const windows = new CurrentWindows(usage);
        for (const ruleNo of RULE_NOS) {
          windows.open({
            usage,
            ruleNo,
            startS: 0,
            endS: null,
            used: 0n,
            limit: LIMIT,
            next: LIMIT,
            openedAtMs: 0,
          });
        }
        return windows;
      }),
    ),
  );
  await pool.query(`create table bench_windows (project_no integer, subject_type text, subject_id text, rule_no integer,
    window_start bigint, window_end bigint, used numeric not null, limit_amount numeric not null, next_notice numeric,
    opened_at_ms bigint, primary key (project_no, subject_type, subject_id, rule_no)) with (fillfactor = 50)`);
  await pool.query(
    `insert into bench_windows select 1, 'user', 'user-' || s, r, 0, null, 0, 1e12, 1e12, 0
    from generate_series(0, $1 - 1) s, generate_series(1, $2::integer) r`,
    [SUBJECTS, RULES],
  );
  await pool.query('analyze');
}
