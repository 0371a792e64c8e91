import type { ProjectRef } from '../../../kernel/scope.js';
import type { RequestSpan } from '../../tracing/index.js';
import { readJson, skimBody } from '../body.js';
import type { ObserveRequest } from '../requests.js';
import type { ExpressOperation } from './express-route.js';

/** The input of a route's operation, after the request was authorized. */
export interface LaneRoute {
  readonly url: string;
  readonly bodyLimit: number;
  readonly arbitraryText: boolean;
  readonly unread: string | undefined;
  readonly isValid: (body: unknown) => boolean;
  readonly operation: ExpressOperation;
  readonly observe: ObserveRequest;
}

/** A request that the lane serves if its body is valid. */
export interface Admission {
  readonly route: LaneRoute;
  readonly project: ProjectRef;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Returns the function that serves a request that has arrived completely; undefined when its body is not valid.
 *
 * @param readBody joins the pieces of the body; called once the precheck has passed
 */
export function workOf(
  { route, project, params }: Admission,
  readBody: () => Buffer,
): ((span: RequestSpan | undefined) => Promise<string>) | undefined {
  const { operation } = route;
  try {
    operation.precheck(project);
  } catch (error) {
    return () => Promise.reject(error);
  }
  const rawBody = readBody();
  const body = validBody(route, rawBody);
  return body === undefined
    ? undefined
    : (span) => operation.answer({ project, params, body, rawBody, span });
}

/** Returns undefined for a body that Fastify refuses; JSON values are never undefined. */
function validBody({ unread, arbitraryText, isValid }: LaneRoute, rawBody: Buffer): unknown {
  try {
    const body = unread === undefined ? readJson(rawBody, arbitraryText) : skimBody(rawBody, unread);
    return isValid(body) ? body : undefined;
  } catch {
    return undefined;
  }
}
