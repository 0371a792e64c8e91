import type { ProjectRef } from '../../platform/http/index.js';

/** Whose routes, plans and limits are meant. */
export type LimitOwner = Pick<ProjectRef, 'tenantId' | 'projectId'>;
