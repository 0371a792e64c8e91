import type { ProjectRef } from '../../../kernel/scope.js';

/** Whose routes, plans and limits are meant. */
export type LimitOwner = Pick<ProjectRef, 'tenantId' | 'projectId'>;
