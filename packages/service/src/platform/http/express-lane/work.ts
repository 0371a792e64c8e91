import type { FastifyContextConfig } from 'fastify';
import type { ProjectRef } from '../../../kernel/scope.js';
import type { RequestSpan } from '../../tracing/index.js';
import { readJson, skimBody } from '../body.js';
import { parseQuery } from '../query-text.js';
import type { ObserveRequest } from '../requests.js';
import { serializeResponse } from '../response.js';
import { bodyCheck, queryValidator } from '../validation.js';
import type { ExpressOperation } from './express-route.js';
import type { PlainHead, PlainMethod } from './request-head.js';

interface Input {
  readonly value: unknown;
}

/** A route of the lane. */
export interface LaneRoute {
  readonly method: PlainMethod;
  readonly url: string;
  /** 0 for a GET, and for a POST without a body. */
  readonly bodyLimit: number;
  /** Returns the input of the operation, or the steps that do; undefined for one that Fastify refuses. */
  readonly readInput: (
    head: PlainHead,
    rawBody: Buffer,
  ) => Input | undefined | Generator<void, Input | undefined>;
  /** Checks an `Idempotency-Key`, or that there is none; undefined for a route without a schema of headers. */
  readonly isKeyValid: ((key: string | undefined) => boolean) | undefined;
  readonly operation: ExpressOperation;
  readonly observe: ObserveRequest;
}

/** A request that the lane serves if its input is valid. */
export interface Admission {
  readonly route: LaneRoute;
  readonly project: ProjectRef;
  readonly params: Readonly<Record<string, string>>;
}

/** Serves a request that has arrived completely; resolves to the JSON of its response. */
export type LaneWork = (span: RequestSpan | undefined) => Promise<string>;

/**
 * Returns the function that serves a request that has arrived completely; undefined when its input is not valid. Reads
 * the input in steps.
 *
 * @param readBody joins the pieces of the body; called once the precheck has passed
 */
export function* workOf(
  { route, project, params, head }: Admission & { readonly head: PlainHead },
  readBody: () => Buffer,
): Generator<void, LaneWork | undefined> {
  const { operation } = route;
  try {
    operation.precheck?.(project);
  } catch (error) {
    return () => Promise.reject(error);
  }
  const idempotencyKey = route.isKeyValid === undefined ? undefined : head.idempotencyKey;
  if (route.isKeyValid?.(idempotencyKey) === false) return undefined;
  const rawBody = readBody();
  const reading = route.readInput(head, rawBody);
  const read = reading !== undefined && 'next' in reading ? yield* reading : reading;
  if (read === undefined) return undefined;
  const input = read.value;
  return async (span) => {
    const response = await operation.answer({ project, params, input, rawBody, idempotencyKey, span });
    return typeof response === 'string' ? response : serializeResponse(response);
  };
}

/** Reads the input of a route without a body. */
export const noInput: LaneRoute['readInput'] = () => ({ value: undefined });

/** Returns how the bodies of a route are read. */
export function bodyReader(
  schema: object,
  { arbitraryText, unread }: Partial<FastifyContextConfig> = {},
): LaneRoute['readInput'] {
  const isValid = bodyCheck(schema);
  return function* (_head, rawBody) {
    try {
      const body =
        arbitraryText === true && unread !== undefined
          ? yield* skimBody(rawBody, unread)
          : readJson(rawBody, arbitraryText === true);
      return isValid(body) ? { value: body } : undefined;
    } catch {
      return undefined;
    }
  };
}

/** Returns how the queries of a route are read, by the parser and the validator that Fastify uses. */
export function queryReader(schema: object): LaneRoute['readInput'] {
  const validate = queryValidator(schema);
  return ({ query = '' }) => {
    const outcome = validate(parseQuery(query));
    return 'value' in outcome ? outcome : undefined;
  };
}

/** Returns how the keys of a route are checked; undefined for a route without a schema of headers. */
export function keyCheck(schema: object | undefined): LaneRoute['isKeyValid'] {
  if (schema === undefined) return undefined;
  const validate = queryValidator(schema);
  return (key) => 'value' in validate(key === undefined ? {} : { 'idempotency-key': key });
}
