import type { Principal } from './principal.js';
import type { ProjectRef } from './scope.js';

/** The author of a change, its project and its request, as the audit log records them. */
export interface ChangeContext {
  readonly project: ProjectRef;
  readonly principal: Principal;
  readonly requestId: string;
}
