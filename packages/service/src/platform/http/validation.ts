import { type ErrorDetail, nearestName } from '@tollgate/contract';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { FastifySchemaCompiler } from 'fastify';
import { DomainError, ERROR_DETAILS_MAX, invalidBy } from '../../kernel/errors.js';
import { childPath, pathOfPointer } from '../../kernel/field-path.js';
import { refuseUnusableText } from '../../kernel/usable-text.js';
import { readQueryText } from './query-text.js';

/**
 * Upper bound of the values in a JSON for which all problems of an invalid request are listed; for a larger one only
 * the first is, because Ajv's complete list grows with the request.
 */
const COMPLETE_LIST_VALUES_MAX = 20_000;

/** Upper bound of the known fields that an error about an unknown one names. */
const NAMED_FIELDS_MAX = 10;

/** A test validates the schemas of all routes: to load the schema of schemas takes a tenth of a start. */
export const OWN_SCHEMAS = { strictSchema: true, validateSchema: false, meta: false } as const;
const STRICT = {
  ...OWN_SCHEMAS,
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  verbose: true,
} as const;
const firstFinding = new Ajv({ ...STRICT, allErrors: false });
const allFindings = new Ajv({ ...STRICT, allErrors: true });
/** For query strings: numbers and booleans were read before, defaults are filled in. */
const queryFindings = new Ajv({ ...STRICT, allErrors: true, useDefaults: true });

/**
 * Validates by a route's schemas: bodies and parameters as they are, query strings after numbers and booleans are read.
 * A schema is compiled when it is first needed: compiling those of all routes would take a quarter of a start.
 */
export const validatorCompiler: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
  if (httpPart === 'querystring' || httpPart === 'headers') return queryValidator(schema);
  return bodyValidator(schema, httpPart === 'body');
};

function bodyValidator(schema: object, isBody = true) {
  let quick: ValidateFunction | undefined;
  let complete: ValidateFunction | undefined;
  return (data: unknown): true | { error: DomainError } => {
    quick ??= firstFinding.compile(schema);
    if (quick(data)) return true;
    if (isBody && (data === undefined || data === null)) {
      return { error: new DomainError('invalid_request', { message: 'A JSON body is required.' }) };
    }
    if (!hasMoreValuesThan(data, COMPLETE_LIST_VALUES_MAX)) {
      complete ??= allFindings.compile(schema);
      complete(data);
      return { error: invalidBy(describeFindings(complete.errors ?? [], data)) };
    }
    return { error: invalidBy(describeFindings(quick.errors ?? [], data)) };
  };
}

/**
 * Checks data that did not come with a request as if it were a body.
 *
 * @throws DomainError `invalid_request`
 */
export function checkAsBody(schema: object, data: unknown): void {
  const outcome = bodyValidator(schema)(data);
  if (outcome !== true) throw outcome.error;
  refuseUnusableText(data);
}

/**
 * Returns a function that says whether bodies fit a schema, by the same check as its route's, without the reasons. The
 * schema is compiled when it is first needed.
 */
export function bodyCheck(schema: object): (body: unknown) => boolean {
  let validate: ValidateFunction | undefined;
  return (body) => {
    validate ??= firstFinding.compile(schema);
    return validate(body) === true;
  };
}

/** Returns the check of a route's queries, which returns the query with its numbers, booleans and defaults. */
export function queryValidator(schema: object) {
  let validate: ValidateFunction | undefined;
  return (data: unknown): { readonly value: unknown } | { readonly error: DomainError } => {
    const value = readQueryText(schema, data as Record<string, unknown>);
    if (value instanceof DomainError) return { error: value };
    validate ??= queryFindings.compile(schema);
    return validate(value) ? { value } : { error: invalidBy(describeFindings(validate.errors ?? [], value)) };
  };
}

function describeFindings(findings: readonly ErrorObject[], data: unknown): ErrorDetail[] {
  const choices = findings.filter(isChoice);
  const details = new Map<string, ErrorDetail>();
  for (const [index, found] of findings.entries()) {
    // Errors of the branches add nothing to "must be one of".
    if (choices.some((choice) => found.schemaPath.startsWith(`${choice.schemaPath}/`))) continue;
    for (const finding of isChoice(found) ? insideChoice(findings, index) : [found]) {
      const detail = describeFinding(finding, data);
      // One problem for each place: a text that is too short need not also be reported for its pattern.
      if (!details.has(detail.path)) details.set(detail.path, detail);
    }
    if (details.size >= ERROR_DETAILS_MAX) break;
  }
  return [...details.values()].slice(0, ERROR_DETAILS_MAX);
}

function isChoice({ keyword }: ErrorObject): boolean {
  return keyword === 'anyOf' || keyword === 'oneOf';
}

/**
 * Returns the errors of the one branch of a choice that accepts values of this type; if there is no such branch, the
 * error of the choice itself.
 */
function insideChoice(findings: readonly ErrorObject[], index: number): readonly ErrorObject[] {
  const choice = findings[index];
  if (choice === undefined) return [];
  const prefix = `${choice.schemaPath}/`;
  const byBranch = new Map<string, ErrorObject[]>();
  // Ajv reports the errors of the branches right before that of the choice.
  for (let at = index - 1; at >= 0; at -= 1) {
    const finding = findings[at];
    if (finding === undefined || !finding.schemaPath.startsWith(prefix)) break;
    if (!`${finding.instancePath}/`.startsWith(`${choice.instancePath}/`)) break;
    const branch = finding.schemaPath.slice(prefix.length).split('/', 1)[0] ?? '';
    byBranch.set(branch, [finding, ...(byBranch.get(branch) ?? [])]);
  }
  const fitting = [...byBranch.values()].filter((branch) =>
    branch.every(
      ({ keyword, instancePath }) => instancePath !== choice.instancePath || !OF_KIND.has(keyword),
    ),
  );
  const [only, ...others] = fitting;
  if (only === undefined || others.length > 0) return [choice];
  // Text that is no listed value and lacks the form of all others may be meant as either.
  const hasValues = [...byBranch.values()].some((branch) => branch.some(({ keyword }) => keyword === 'enum'));
  return hasValues && only.some(({ keyword }) => keyword === 'pattern') ? [choice] : only;
}

/** Keywords that say for which kind of value a branch is. */
const OF_KIND: ReadonlySet<string> = new Set(['type', 'const', 'enum']);

function describeFinding(finding: ErrorObject, data: unknown): ErrorDetail {
  const path = pathOfPointer(finding.instancePath, data);
  const { keyword, params, schema } = finding;
  // JSON has numbers that JavaScript does not have; they were parsed as Infinity.
  if (typeof finding.data === 'number' && !Number.isFinite(finding.data)) {
    return { path, message: 'the number is too large' };
  }
  switch (keyword) {
    case 'additionalProperties': {
      const name = String(params.additionalProperty);
      return { path: childPath(path, name), message: unknownField(name, finding) };
    }
    case 'required':
      return { path: childPath(path, String(params.missingProperty)), message: 'is required' };
    case 'type':
      return { path, message: `expected ${withArticle(params.type as string | string[])}` };
    case 'anyOf':
    case 'oneOf':
      return { path, message: expectedChoice(schema as readonly Record<string, unknown>[]) };
    case 'const':
      return { path, message: `expected ${JSON.stringify(params.allowedValue)}` };
    case 'enum':
      return {
        path,
        message: `expected one of ${(params.allowedValues as unknown[]).map(plain).join(', ')}`,
      };
    case 'minLength':
      return { path, message: `expected at least ${count(Number(schema), 'character')}` };
    case 'maxLength':
      return { path, message: `expected at most ${count(Number(schema), 'character')}` };
    case 'minItems':
      return { path, message: `expected at least ${count(Number(schema), 'entry', 'entries')}` };
    case 'maxItems':
      return { path, message: `expected at most ${count(Number(schema), 'entry', 'entries')}` };
    case 'minProperties':
      return { path, message: `expected at least ${count(Number(schema), 'entry', 'entries')}` };
    case 'maxProperties':
      return { path, message: `expected at most ${count(Number(schema), 'entry', 'entries')}` };
    case 'minimum':
      return { path, message: `expected at least ${Number(schema)}` };
    case 'maximum':
      return { path, message: `expected at most ${Number(schema)}` };
    case 'uniqueItems':
      return { path, message: `entries ${params.j} and ${params.i} are the same` };
    case 'pattern':
      return { path, message: `expected ${textOfForm(schema)}` };
    default:
      return { path, message: finding.message ?? 'is not valid' };
  }
}

/** Names the known field that may be meant; where none has nearly this name, those that are not used. */
function unknownField(name: string, { parentSchema, data }: ErrorObject): string {
  const isUsed = (known: string) => Object.hasOwn(data as object, known);
  const names = Object.keys(parentSchema?.properties ?? {}).filter((known) => !isUsed(known));
  const near = nearestName(name, names);
  if (near !== undefined) return `unknown field (did you mean ${near}?)`;
  if (names.length === 0 || names.length > NAMED_FIELDS_MAX) return 'unknown field';
  return `unknown field; known ones that are not used: ${names.join(', ')}`;
}

function expectedChoice(branches: readonly Record<string, unknown>[]): string {
  if (branches.every((branch) => 'const' in branch)) {
    return `expected one of ${branches.map((branch) => plain(branch.const)).join(', ')}`;
  }
  const texts = branches.map(textsOf);
  if (texts.every((text) => text !== undefined)) return `expected ${texts.join(', or ')}`;
  const types = branches.flatMap((branch) => (branch.type === undefined ? [] : (branch.type as string)));
  return types.length === branches.length
    ? `expected ${withArticle(types)}`
    : 'matches none of the accepted forms';
}

/** Describes a branch that accepts listed values, or text of a form; undefined for any other. */
function textsOf({ enum: values, pattern }: Record<string, unknown>): string | undefined {
  if (Array.isArray(values)) return `one of ${values.map(plain).join(', ')}`;
  return pattern === undefined ? undefined : textOfForm(pattern);
}

/** Describes text of a pattern: the one of text that is not blank by words, because every user meets it. */
function textOfForm(pattern: unknown): string {
  return pattern === '\\S' ? 'text that is not blank' : `text that matches ${String(pattern)}`;
}

function withArticle(types: string | readonly string[]): string {
  const names = [...new Set(typeof types === 'string' ? types.split(',') : types)];
  return names
    .map((name) => (name === 'null' ? name : `${/^[aeio]/.test(name) ? 'an' : 'a'} ${name}`))
    .join(' or ');
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function count(amount: number, one: string, many = `${one}s`): string {
  return `${amount} ${amount === 1 ? one : many}`;
}

function hasMoreValuesThan(root: unknown, max: number): boolean {
  const pending = [root];
  for (let seen = 0; pending.length > 0; seen += 1) {
    if (seen > max || pending.length > max) return true;
    const value = pending.pop();
    if (typeof value !== 'object' || value === null) continue;
    for (const key in value) {
      pending.push((value as Record<string, unknown>)[key]);
      if (pending.length > max) return true;
    }
  }
  return false;
}
