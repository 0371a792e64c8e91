import type { ErrorData } from './error-data.js';

/** Input and output of one kind of job or call: values that can be sent between threads. */
export interface Signature {
  readonly input: unknown;
  readonly result: unknown;
}

/** Jobs of a thread, or calls that jobs make, by name. */
export type Signatures<T> = { readonly [Name in keyof T]: Signature };

export type JobOutcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: ErrorData };

/** Messages to a thread. */
export type ToThread =
  | { readonly kind: 'job'; readonly name: string; readonly input: unknown }
  | { readonly kind: 'answer'; readonly callNo: number; readonly outcome: JobOutcome };

/** Messages from a thread. */
export type FromThread =
  | { readonly kind: 'done'; readonly outcome: JobOutcome }
  | { readonly kind: 'call'; readonly callNo: number; readonly name: string; readonly input: unknown };
