import { hash } from 'node:crypto';
import { COUNTER_VALUES_MAX } from '@tollgate/contract';
import { fromStored, INTEGER_DIGITS_MAX, toText } from '../../kernel/decimal.js';
import type { ProjectRef } from '../../kernel/scope.js';
import { type CountedItem, type CounterDefinition, RatingFailure } from '../rules/index.js';

/** A project with counters. */
export type CountedProject = Pick<ProjectRef, 'tenantId' | 'projectId' | 'projectNo'>;

/** The subject and the account of an event. */
export interface CountedOwner {
  readonly subject: { readonly type: string; readonly id: string } | undefined;
  /** The account of the subject's route; empty without a route. */
  readonly accountId: string;
}

/** One counter: what a definition counts, for one subject or account, and one combination of dimension values. */
export interface Counter {
  readonly scope: CountedProject;
  readonly ruleSetId: string;
  readonly definition: CounterDefinition;
  /** Empty unless the counter is one of a subject. */
  readonly subjectType: string;
  readonly subjectId: string;
  /** Empty unless the counter is one of an account. */
  readonly accountId: string;
  /** The values of the definition's dimensions, in their order; null for an absent one. */
  readonly by: readonly (string | null)[];
}

/** Returns the counter of a charge item; undefined if there is one per account and the event has no account. */
export function counterOf(
  scope: CountedProject,
  { counter: definition, ruleSetId, by }: Pick<CountedItem, 'counter' | 'ruleSetId' | 'by'>,
  { subject, accountId }: CountedOwner,
): Counter | undefined {
  const { per } = definition;
  if (per === 'account' && accountId === '') return undefined;
  const isOfSubject = per === 'subject';
  return {
    scope,
    ruleSetId,
    definition,
    subjectType: isOfSubject ? (subject?.type ?? '') : '',
    subjectId: isOfSubject ? (subject?.id ?? '') : '',
    accountId: per === 'account' ? accountId : '',
    by,
  };
}

/**
 * Returns a text that a counter shares only with counters of other rule sets and names. It is built for every charge
 * item, in a fraction of the time of JSON.
 */
export function ownerText(
  { counter: { per }, by }: CountedItem,
  { subject, accountId }: CountedOwner,
): string {
  const values = by.length === 0 ? '' : JSON.stringify(by);
  if (per === 'project') return `project ${values}`;
  if (per === 'account') return `account ${accountId} ${values}`;
  const { type = '', id = '' } = subject ?? {};
  return `${type.length} ${id.length} ${type}${id}${values}`;
}

export const KEY_BYTES = 16;

/** Returns the key under which a counter is stored: a hash of everything that identifies it, in all projects. */
export function counterKey({ scope, definition, ruleSetId, by, ...owner }: Counter): Buffer {
  const { subjectType, subjectId, accountId } = owner;
  const names = [scope.projectId, ruleSetId, definition.name, subjectType, subjectId, accountId, by];
  // A copy is a part of a shared buffer: remembered keys would take twice the memory with buffers of their own.
  return Buffer.from(hash('sha256', JSON.stringify(names), 'buffer').subarray(0, KEY_BYTES));
}

/** A charge item as a counter sees it: a quantity × 10^18, and a value where distinct ones are counted. */
export type CountableItem = Pick<CountedItem, 'quantity' | 'value'>;

/** A charge item that is to be taken out of a period is not in it. */
export class MissingItemError extends Error {
  override readonly name = 'MissingItemError';
}

/** @param path the entry of the rule set with the price of the total */
export function tooLarge({ name, aggregate }: CounterDefinition, path: string): RatingFailure {
  if (!keepsValues({ aggregate })) {
    const message = `The total of the counter ${name} does not fit ${INTEGER_DIGITS_MAX} integer digits.`;
    return new RatingFailure('decimal_out_of_range', message, path);
  }
  const message = `The counter ${name} keeps at most ${COUNTER_VALUES_MAX} values in a period (COUNTER_VALUES_MAX).`;
  return new RatingFailure('counter_full', message, path);
}

/** Whether counters of a definition keep the values of their charge items. */
export function keepsValues({ aggregate }: Pick<CounterDefinition, 'aggregate'>): boolean {
  return aggregate === 'unique' || aggregate === 'max';
}

/** A longer text is kept as its SHA-256, because an index of PostgreSQL holds at most 2,704 bytes of an entry. */
export const KEPT_TEXT_BYTES_MAX = 1_024;

/**
 * Returns the value of a charge item that its counter keeps: a dimension value, or a quantity whose greatest is wanted.
 * Undefined where nothing is kept.
 */
export function countedValue(
  { definition }: Counter,
  { value, quantity }: CountableItem,
): string | undefined {
  if (definition.aggregate === 'unique') return value === undefined ? undefined : keptText(value);
  return definition.aggregate === 'max' ? toText(fromStored(quantity)) : undefined;
}

function keptText(value: string): string {
  return Buffer.byteLength(value) > KEPT_TEXT_BYTES_MAX ? hash('sha256', value, 'hex') : value;
}
