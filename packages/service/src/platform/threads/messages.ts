import type { ErrorData } from './error-data.js';

/** Input and output of one kind of job or call: values that can be sent between threads. */
export interface Signature {
  readonly input: unknown;
  readonly result: unknown;
}

/** Jobs that a thread does, or calls that it makes meanwhile, by name. */
export type Signatures<T> = { readonly [Name in keyof T]: Signature };

export type JobOutcome =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: ErrorData };

/** To a thread. */
export type ToThread =
  | { readonly kind: 'job'; readonly name: string; readonly input: unknown }
  | { readonly kind: 'answer'; readonly callNo: number; readonly outcome: JobOutcome };

/** From a thread. */
export type FromThread =
  | { readonly kind: 'done'; readonly outcome: JobOutcome }
  | { readonly kind: 'call'; readonly callNo: number; readonly name: string; readonly input: unknown };
