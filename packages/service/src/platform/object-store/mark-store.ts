import { randomUUID } from 'node:crypto';
import { type Postgres, withAdvisoryLock } from '../postgres/index.js';
import { MARK_KEY, type ObjectStore, ObjectStoreError } from './port.js';

const LOCK = 'tollgate/object-store';

interface KnownStore {
  readonly id: string;
  /** Where the store was when it was marked; for people. */
  readonly place: string;
  readonly is_marked: boolean;
}

/**
 * Makes sure that this is the object store of this installation. On its first use, a store without a mark gets one. A
 * store at another place replaces the known store only when nothing is left in the known one.
 *
 * @param place where the store is; for people
 * @param isInUse whether any row points at an object
 * @throws Error with a sentence for the operator if it is another store, such as an empty folder in place of a share
 */
export async function claimObjectStore(
  store: ObjectStore,
  postgres: Postgres,
  place: string,
  isInUse: () => Promise<boolean>,
): Promise<void> {
  // Processes that start at the same time must not mark two stores.
  await withAdvisoryLock(postgres, LOCK, async () => {
    const [mark, known] = [await readMark(store), await readKnownStore(postgres)];
    if (mark !== undefined && mark === known?.id) return confirmMark(postgres, place);
    if (mark !== undefined) {
      const own = known === undefined ? 'has no store yet' : `uses ${known.place}`;
      throw new Error(
        `its object ${MARK_KEY} belongs to another store. This installation ${own}. Use an empty folder or prefix`,
      );
    }
    if (known?.is_marked !== true)
      return markStore(store, postgres, { id: known?.id ?? randomUUID(), place });
    if (known.place === place) {
      throw new Error(
        `it is not the store that this installation used there before: its object ${MARK_KEY} is missing. Is the share mounted?`,
      );
    }
    if (await isInUse()) {
      throw new Error(
        `data of this installation are still in the store ${known.place}. Use that store until they are processed, or copy all of its objects`,
      );
    }
    await markStore(store, postgres, { id: randomUUID(), place });
  });
}

/** @throws Error if this is not the object store of this installation, or it cannot be reached */
export async function checkObjectStore(store: ObjectStore, postgres: Pick<Postgres, 'pool'>): Promise<void> {
  const [mark, known] = await Promise.all([readMark(store), readKnownStore(postgres)]);
  if (mark === undefined) throw new ObjectStoreError('be recognized', new Error(`${MARK_KEY} is missing`));
  if (mark !== known?.id)
    throw new Error(`it is not the object store of this installation, which is ${known?.place ?? 'none'}`);
}

async function readMark(store: ObjectStore): Promise<string | undefined> {
  const bytes = await store.get(MARK_KEY);
  // A crash during the put may leave an empty file.
  return bytes === undefined || bytes.length === 0 ? undefined : bytes.toString();
}

async function readKnownStore({ pool }: Pick<Postgres, 'pool'>): Promise<KnownStore | undefined> {
  const { rows } = await pool.query<KnownStore>('select id, place, is_marked from object_store');
  return rows[0];
}

/** Records the id before it puts the mark: after a crash in between, the next start puts the mark again. */
async function markStore(
  store: ObjectStore,
  postgres: Postgres,
  { id, place }: Pick<KnownStore, 'id' | 'place'>,
): Promise<void> {
  await postgres.pool.query(
    `insert into object_store (id, place, is_marked) values ($1, $2, false)
    on conflict (is_only) do update set id = excluded.id, place = excluded.place, is_marked = false`,
    [id, place],
  );
  await store.delete([MARK_KEY]);
  await store.put(MARK_KEY, [Buffer.from(id)]);
  await confirmMark(postgres, place);
}

async function confirmMark({ pool }: Postgres, place: string): Promise<void> {
  await pool.query(
    'update object_store set is_marked = true, place = $1 where not is_marked or place <> $1',
    [place],
  );
}
