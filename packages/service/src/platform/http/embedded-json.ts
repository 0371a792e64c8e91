import type { Static, TSchema } from 'typebox';
import { DomainError, invalidRequest } from '../../kernel/errors.js';
import { readJson } from './body.js';
import { validatorCompiler } from './validation.js';

/** How refusals of a whole body begin. */
const WHOLE_BODY = /^(?:The (?:body|JSON)|A JSON body) /;

/** Reads one JSON text; `path` says where in the request it stands. */
export type ReadEmbeddedJson<T> = (text: string, path: string) => T;

/**
 * A reader of JSON that stands elsewhere than in a body, in a query string say: what it takes and refuses is
 * what a body of this schema would be, only that the places it names begin with the text's own.
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

/** The same refusal of what is a part of the request only. */
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
