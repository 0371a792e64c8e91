import type { UnknownSubjects } from '@tollgate/contract';
import { sql } from 'kysely';
import type { ProjectScope } from '../../../kernel/scope.js';
import type { Db, ProjectDb, ProjectTx } from '../../../platform/postgres/index.js';

/** Returns the stored setting; undefined for a project that has the default. */
export async function findUnknownSubjects(db: ProjectDb): Promise<UnknownSubjects | undefined> {
  const row = await db.row<{ unknown_subjects: UnknownSubjects }>`
    select unknown_subjects from project_settings where ${db.isOwn()}`;
  return row?.unknown_subjects;
}

export async function putUnknownSubjects(tx: ProjectTx, unknownSubjects: UnknownSubjects): Promise<void> {
  await tx.change`
    insert into project_settings (tenant_id, project_id, unknown_subjects)
    values (${tx.ownValues()}, ${unknownSubjects})
    on conflict (project_id) do update set unknown_subjects = excluded.unknown_subjects`;
}

/** Returns for each of the projects whether it denies checks and leases of subjects without a route. */
export async function readDenials(db: Db, projects: readonly ProjectScope[]): Promise<boolean[]> {
  const { rows } = await sql<{ denied: boolean }>`
    select coalesce(s.unknown_subjects = 'deny', false) as denied
    from unnest(
      ${projects.map(({ tenantId }) => tenantId)}::text[], ${projects.map(({ projectId }) => projectId)}::text[]
    ) with ordinality as asked (tenant_id, project_id, position)
    left join project_settings s on s.tenant_id = asked.tenant_id and s.project_id = asked.project_id
    order by asked.position
  `.execute(db);
  return rows.map(({ denied }) => denied);
}
