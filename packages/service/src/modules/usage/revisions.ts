import type { UsageEventRevision } from '@tollgate/contract';
import type { ProjectScope } from '../../kernel/scope.js';
import type { BlockReader, ProjectHistory } from '../storage/index.js';
import type { StoredEvent } from './event-store.js';
import { textOrNull, toUsageChargeItem } from './event-view.js';
import { jsonOf, type UsageEventRow } from './row.js';
import { revisionRows } from './stored-rows.js';

/** Who has applied and reverted a correction, and why. */
export interface CorrectionAuthor {
  readonly id: string;
  readonly reason: string;
  readonly appliedBy: string;
  /** Null as long as nobody has reverted it. */
  readonly revertedBy: string | null;
}

/** Reads the authors of corrections; implemented by the corrections module. */
export type CorrectionAuthors = (
  project: ProjectScope,
  ids: readonly string[],
) => Promise<readonly CorrectionAuthor[]>;

/**
 * Returns the JSON of all revisions of an event, oldest first, with the JSON that was sent as it is. The first revision
 * has it where a later one has another, so that what was replaced stays readable.
 */
export async function revisionsJson(
  history: ProjectHistory<BlockReader>,
  { id }: Pick<StoredEvent, 'id'>,
  authorsOf: (ids: readonly string[]) => Promise<readonly CorrectionAuthor[]>,
): Promise<string> {
  const rows = (await revisionRows(history, [id])).of(id) ?? [];
  const ids = [...new Set(rows.flatMap(({ correctionId }) => (correctionId === '' ? [] : [correctionId])))];
  const authors = new Map(
    (ids.length === 0 ? [] : await authorsOf(ids)).map((author) => [author.id, author]),
  );
  const contents = rows.map(jsonOf);
  const isReplaced = contents.some((content) => content !== contents[0]);
  const texts = rows.map((row, index) => {
    const { correctionId } = row;
    const isRevert = rows.findIndex((other) => other.correctionId === correctionId) < index;
    const fields = JSON.stringify(shownRevision(row, authors.get(correctionId), isRevert)).slice(0, -1);
    const sent = contents[index];
    const isSentAnew = index === 0 ? isReplaced : sent !== contents[index - 1];
    return isSentAnew ? `${fields},"raw_json":${sent || 'null'}}` : `${fields}}`;
  });
  return `[${texts.join(',')}]`;
}

function shownRevision(
  { corrections, status, items, itemTransactionIds, correctionId, processedAtMs }: UsageEventRow,
  author: CorrectionAuthor | undefined,
  isRevert: boolean,
): UsageEventRevision {
  return {
    revision: corrections + 1,
    status,
    charge_items: items.map((item, index) => ({
      ...toUsageChargeItem(item),
      ledger_transaction_id: textOrNull(itemTransactionIds[index]),
    })),
    correction_id: textOrNull(correctionId),
    actor: (isRevert ? author?.revertedBy : author?.appliedBy) ?? null,
    reason: author?.reason ?? null,
    created_at: Math.floor(processedAtMs / 1_000),
  };
}
