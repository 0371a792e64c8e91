import type { Principal } from './principal.js';
import type { ProjectRef } from './scope.js';

/** Who asks for a change, in which project and in which request: what the audit log records. */
export interface ChangeContext {
  readonly project: ProjectRef;
  readonly principal: Principal;
  readonly requestId: string;
}
