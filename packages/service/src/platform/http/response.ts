import { Ajv, type ValidateFunction } from 'ajv';
import type { FastifySerializerCompiler } from 'fastify';
import { OWN_SCHEMAS } from './validation.js';

/**
 * Responses are written by JSON.stringify: they contain exactly what a handler returns, with no field dropped or
 * converted.
 */
export function serializeResponse(data: unknown): string {
  return JSON.stringify(data);
}

const responses = new Ajv(OWN_SCHEMAS);

/**
 * As `serializeResponse`, but a response that its route's schema does not describe is an error. A schema is compiled
 * with its first response, because a test needs few of an application's schemas.
 */
export const responseChecker: FastifySerializerCompiler<object> = ({ schema, method, url, httpStatus }) => {
  let validate: ValidateFunction | undefined;
  return (data) => {
    validate ??= responses.compile(schema);
    const text = JSON.stringify(data);
    if (validate(JSON.parse(text))) return text;
    const findings = JSON.stringify(validate.errors);
    throw new Error(`The ${httpStatus} response of ${method} ${url} does not match its schema: ${findings}`);
  };
};
