import type { SubjectRoute } from '@tollgate/contract';
import { EVERY, type Subject } from '../subjects/subject.js';

/** The route that applies to a subject, and the reason. */
export interface Routing {
  readonly route: SubjectRoute | undefined;
  /** A sentence about the subject; the subject's name is shown next to it. */
  readonly reason: string;
}

/**
 * Finds the route that applies to a subject.
 *
 * @param own the route that names the subject
 * @param every the default route of its type
 */
export function routingOf(
  { type, id }: Subject,
  own: SubjectRoute | undefined,
  every: SubjectRoute | undefined,
): Routing {
  if (id === EVERY) {
    return {
      route: own,
      reason:
        own === undefined ? `There is no route for every ${type}.` : 'This is the default route of the type.',
    };
  }
  if (own !== undefined) {
    const preference = every === undefined ? '' : ` It takes precedence over the route for every ${type}.`;
    return { route: own, reason: `This subject has its own route.${preference}` };
  }
  if (every !== undefined) {
    return {
      route: every,
      reason: `This subject has no route of its own, so the route for every ${type} applies, with separate windows.`,
    };
  }
  return {
    route: undefined,
    reason: `This subject has no route, and there is no route for every ${type}. Its usage is priced, but nobody pays for it and no limit counts it.`,
  };
}
