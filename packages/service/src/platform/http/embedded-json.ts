import type { Static, TSchema } from 'typebox';
import { DomainError, invalidRequest } from '../../kernel/errors.js';
import { readJson } from './body.js';
import { validatorCompiler } from './validation.js';

/** The beginnings of refusals of a whole body. */
const WHOLE_BODY = /^(?:The (?:body|JSON)|A JSON body) /;

/** Reads one JSON text; `path` is its place in the request. */
export type ReadEmbeddedJson<T> = (text: string, path: string) => T;

/**
 * Returns a reader of JSON outside bodies, for example in a query string. It accepts and refuses the same as a body of
 * this schema; the paths in its errors begin with the text's own path.
 */
export function embeddedJson<S extends TSchema>(schema: S): ReadEmbeddedJson<Static<S>> {
  const validate = validatorCompiler({ schema, method: 'GET', url: '', httpPart: 'body' });
  return (text, path) => {
    try {
      const value = readJson(Buffer.from(text), false);
      const found = validate(value) as true | { readonly error?: Error };
      if (found !== true && found.error !== undefined) throw found.error;
      return value as Static<S>;
    } catch (error) {
      throw error instanceof DomainError ? errorAtPath(path, error) : error;
    }
  };
}

/** Returns the same refusal for a part of the request. */
export function errorAtPath(path: string, error: DomainError): DomainError {
  const [first, ...others] = error.details ?? [];
  if (first === undefined)
    return invalidRequest(path, error.message.replace(WHOLE_BODY, '').replace(/\.$/, ''));
  const placed = [first, ...others].map((detail) => ({
    path: detail.path === '' || detail.path.startsWith('[') ? path + detail.path : `${path}.${detail.path}`,
    message: detail.message,
  }));
  return new DomainError(error.code, {
    message: `The request is not valid: ${placed[0]?.path}: ${first.message}.`,
    details: placed,
  });
}
