import type { ProjectRef } from '../../../kernel/scope.js';

/** The project whose routes, plans and limits are meant. */
export type LimitOwner = Pick<ProjectRef, 'tenantId' | 'projectId'>;
