import type { SubjectRoute } from '@tollgate/contract';
import { EVERY, type Subject } from '../subjects/subject.js';

/** Which route a subject has, and why. */
export interface Routing {
  readonly route: SubjectRoute | undefined;
  /** A sentence about the subject, which is named beside it. */
  readonly reason: string;
}

/**
 * @param own the route that names the subject
 * @param every that of every subject of its type
 */
export function routingOf(
  { type, id }: Subject,
  own: SubjectRoute | undefined,
  every: SubjectRoute | undefined,
): Routing {
  if (id === EVERY) {
    return {
      route: own,
      reason: own === undefined ? `There is no route of every ${type}.` : 'It is the route of the type.',
    };
  }
  if (own !== undefined) {
    const beside = every === undefined ? '' : ` It wins over that of every ${type}.`;
    return { route: own, reason: `It has a route of its own.${beside}` };
  }
  if (every !== undefined) {
    return {
      route: every,
      reason: `It has no route of its own, so that of every ${type} applies, with windows of its own.`,
    };
  }
  return {
    route: undefined,
    reason: `It has no route of its own, and there is none of every ${type}: its usage is priced, but nobody pays for it and nothing limits it.`,
  };
}
