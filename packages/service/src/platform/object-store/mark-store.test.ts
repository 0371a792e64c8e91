import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestPostgres, type TestPostgres, useObjectStoreKinds } from '../../testing/index.js';
import {
  checkObjectStore,
  claimObjectStore,
  MARK_KEY,
  type ObjectStore,
  openObjectStore,
  readObjectStoreUrl,
} from './index.js';

const open = (url: string) => openObjectStore(readObjectStoreUrl(url));

const stores = useObjectStoreKinds();

describe.each(stores.kinds)('the object store of an installation at %s', (_kind, urlOf) => {
  let test: TestPostgres;
  let other: TestPostgres;
  beforeEach(async () => {
    [test, other] = await Promise.all([createTestPostgres(), createTestPostgres()]);
  });
  afterEach(() => Promise.all([test.drop(), other.drop()]));

  const claim = (store: ObjectStore, place = 'here', isInUse = false, { postgres } = test) =>
    claimObjectStore(store, postgres, place, async () => isInUse);
  const check = (store: ObjectStore) => checkObjectStore(store, test.postgres);
  const lose = (store: ObjectStore) => store.delete([MARK_KEY]);

  it('is recognized by its mark, wherever it is', async () => {
    const store = await open(urlOf());
    await expect(check(store)).rejects.toThrow('marks/store is missing');
    await Promise.all([claim(store), claim(store)]);
    await claim(store, 'mounted elsewhere', true);
    await check(store);
  });

  it('is refused when its mark is gone, as behind a share that is not mounted', async () => {
    const store = await open(urlOf());
    await claim(store);
    await lose(store);
    await expect(check(store)).rejects.toThrow('marks/store is missing');
    await expect(claim(store)).rejects.toThrow('Is the share mounted?');
    expect(await store.get(MARK_KEY)).toBeUndefined();
  });

  it('is refused when it belongs to another installation', async () => {
    const store = await open(urlOf());
    await claim(store, 'here', false, other);
    await expect(claim(store)).rejects.toThrow(
      'belongs to another store. This installation has no store yet',
    );
    await expect(check(store)).rejects.toThrow('it is not the object store of this installation');
  });

  it('may be replaced when nothing is in it', async () => {
    const store = await open(urlOf());
    await claim(store, 'here');
    await lose(store);
    await expect(claim(store, 'there', true)).rejects.toThrow(
      'data of this installation are still in the store here. Use that store',
    );
    await claim(store, 'there', false);
    await check(store);
  });

  it('gets its mark again after a crash while it was being marked', async () => {
    const store = await open(urlOf());
    const put = store.put.bind(store);
    store.put = async () => {
      await put(MARK_KEY, []);
      throw new Error('crash');
    };
    await expect(claim(store)).rejects.toThrow('crash');
    store.put = put;
    await claim(store);
    await check(store);
  });
});
