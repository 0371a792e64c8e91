import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createManagementApi, type ManagementApi } from '../management.testing.js';
import { levelsOf } from '../route-rules.js';

let api: ManagementApi;
beforeAll(async () => {
  api = await createManagementApi();
});
afterAll(() => api.close());

const ROUTES = '/subject-routes';
const subject = (type: string, id: string) => ({ subject_type: type, subject_id: id });
const create = (type: string, id: string, more: object = {}, status = 201) =>
  api.must(status, 'POST', ROUTES, { ...subject(type, id), ...more });
const under = (type: string, id: string) => ({ parent: subject(type, id) });
const put = (id: string, body: object, status = 200) => api.must(status, 'PUT', `${ROUTES}/${id}`, body);
const remove = (id: string, status = 204) => api.must(status, 'DELETE', `${ROUTES}/${id}`);

/** Creates a chain of routes below one without a parent; returns their ids, the highest first. */
async function chain(type: string, length: number): Promise<string[]> {
  const ids: string[] = [];
  for (let level = 0; level < length; level += 1) {
    const parent = level === 0 ? {} : under(type, `${level - 1}`);
    ids.push((await create(type, `${level}`, parent)).id);
  }
  return ids;
}

describe('the parent of a route', () => {
  it('is shown, and opens no account; detaching opens one, unless there is one', async () => {
    await create('org', 'acme');
    const team = await create('team', 'a', under('org', 'acme'));
    expect(team).toMatchObject({ parent: subject('org', 'acme'), account_id: null });
    expect((await put(team.id, { timezone: 'Europe/Berlin' })).parent).toEqual(subject('org', 'acme'));
    const detached = await put(team.id, { parent: null });
    expect(detached).toMatchObject({ parent: null, account_id: expect.stringMatching(/^acct_/) });
    const attached = await put(team.id, under('org', 'acme'));
    expect(attached.account_id).toBe(detached.account_id);
    expect((await put(team.id, { account_id: null })).account_id).toBeNull();
    expect((await put(team.id, { parent: null })).account_id).not.toBe(detached.account_id);
    expect((await put(team.id, { account_id: null }, 400)).details).toEqual([
      { path: 'account_id', message: 'expected an account, because the subject has no parent' },
    ]);
    const { account_id } = await create('team', 'paid', { ...under('org', 'acme'), ...accountOf(detached) });
    expect(account_id).toBe(detached.account_id);
  });
  const accountOf = ({ account_id }: { account_id: string }) => ({ account_id });

  it('is a filter of lists', async () => {
    await create('org', 'listed');
    const below = await create('team', 'listed', under('org', 'listed'));
    const { subject_routes: found } = await api.must(
      200,
      'GET',
      `${ROUTES}?parent_subject_type=org&parent_subject_id=listed`,
    );
    expect(found).toMatchObject([{ id: below.id }]);
  });

  it('must have a route, its own or that of every subject of its type', async () => {
    const missing = [{ path: 'parent', message: 'expected a subject with a route, its own or a `*` route' }];
    expect((await create('key', 'k', under('group', 'g'), 400)).details).toEqual(missing);
    await create('group', '*');
    await create('key', 'k', under('group', 'g'));
    expect((await create('key', 'l', under('group', '*'), 400)).details).toEqual([
      { path: 'parent.subject_id', message: 'expected the id of one subject, not `*`' },
    ]);
  });

  it('is never below its child, also through routes of every subject', async () => {
    const [top = '', middle = '', bottom = ''] = await chain('cycle', 3);
    const cycle = await put(top, under('cycle', '2'), 409);
    expect(cycle).toEqual({
      error: 'cycle 2 is below the subject itself.',
      code: 'subject_cycle',
      details: [{ path: 'parent', message: 'cycle 2 is below the subject itself' }],
    });
    await put(middle, under('cycle', '1'), 409);
    await put(bottom, under('cycle', '0'));
    const every = await create('user', '*', under('cycle', '2'));
    expect(await put(bottom, under('user', 'any'), 409)).toMatchObject({ code: 'subject_cycle' });
    expect(await put(every.id, under('user', 'boss'), 409)).toMatchObject({ code: 'subject_cycle' });
    await create('user', 'boss');
    await put(every.id, under('user', 'boss'));
    // A route of its own would take the place of the route above, and close a cycle.
    await create('room', '*');
    await create('door', 'front', under('room', 'one'));
    expect(await create('room', 'one', under('door', 'front'), 409)).toMatchObject({ code: 'subject_cycle' });
  });

  it('may have a chain of 8 levels, also when routes below it are hung elsewhere', async () => {
    const [first = ''] = await chain('deep', 8);
    expect(await create('deep', '8', under('deep', '7'), 409)).toMatchObject({ code: 'subject_too_deep' });
    await create('above', 'all');
    expect(await put(first, under('above', 'all'), 409)).toEqual({
      error: 'above all makes a chain of at least 9 levels: 8 levels (SUBJECT_LEVELS_MAX) are the maximum.',
      code: 'subject_too_deep',
      details: [
        {
          path: 'parent',
          message:
            'above all makes a chain of at least 9 levels: 8 levels (SUBJECT_LEVELS_MAX) are the maximum',
        },
      ],
    });
    await create('leaf', '*', under('deep', '5'));
    await create('twig', 'a', under('leaf', 'any'));
    expect(await create('bud', 'a', under('twig', 'a'), 409)).toMatchObject({ code: 'subject_too_deep' });
  });

  it('keeps its route as long as it has children', async () => {
    const owner = await create('owner', 'x');
    const every = await create('owner', '*');
    const child = await create('pet', 'p', under('owner', 'x'));
    const refused = await remove(owner.id, 409);
    expect(refused).toMatchObject({ code: 'route_has_children', details: [{ path: 'id' }] });
    expect(await put(owner.id, { subject_id: 'y' }, 409)).toMatchObject({ code: 'route_has_children' });
    await put(owner.id, { subject_id: 'x', week_start: 'sunday' });
    await put(child.id, under('owner', 'other'));
    await remove(owner.id);
    expect(await remove(every.id, 409)).toMatchObject({ code: 'route_has_children' });
    await remove(child.id);
    await remove(every.id);
  });

  it('is in the chain that the catalog returns, with the account that pays, as soon as it changes', async () => {
    const org = await create('firm', 'one');
    const other = await create('firm', 'two');
    const every = await create('desk', '*', under('firm', 'one'));
    await create('lamp', 'l', under('desk', 'd'));
    const chainOf = async () => {
      const ref = { projectId: api.projectId, subjectType: 'lamp', subjectId: 'l' };
      const route = (await api.catalog.read(api.postgres.db, [ref])).resolve(api.projectId, 'lamp', 'l');
      if (route === undefined) throw new Error('no route');
      return levelsOf({ subject: { type: 'lamp', id: 'l' }, route }).map(
        ({ level, subject: { type, id }, route: { account } }) => `${level} ${type} ${id} ${account.id}`,
      );
    };
    const names = ['0 lamp l', '1 desk d', '2 firm one'];
    expect(await chainOf()).toEqual(names.map((name) => `${name} ${org.account_id}`));
    await put(every.id, under('firm', 'two'));
    expect((await chainOf()).at(-1)).toBe(`2 firm two ${other.account_id}`);
    await put(every.id, { parent: null });
    const { account_id } = await api.must(200, 'GET', `${ROUTES}/${every.id}`);
    expect(await chainOf()).toEqual([`0 lamp l ${account_id}`, `1 desk d ${account_id}`]);
  });

  it('is that of the same project', async () => {
    const other = await api.makeProject(api.tenantId);
    await api.call('POST', `/v1/projects/${other}/subject-routes`, subject('org', 'elsewhere'));
    await create('team', 'lost', under('org', 'elsewhere'), 400);
  });
});
