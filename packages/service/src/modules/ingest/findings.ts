import { ERRORS, type ErrorCode, type ErrorDetail } from '@tollgate/contract';
import { DomainError, ERROR_DETAILS_MAX } from '../../kernel/errors.js';

/** The problems of a request: the first one decides the error code, and all are listed up to a bound. */
export class Findings {
  private code: ErrorCode | undefined;
  private readonly details: ErrorDetail[] = [];

  get isFull(): boolean {
    return this.details.length >= ERROR_DETAILS_MAX;
  }

  add(code: ErrorCode, path: string, message: string): void {
    this.code ??= code;
    if (!this.isFull) this.details.push({ path, message });
  }

  /** @throws DomainError if there are any; its message names the first place. */
  throwIfAny(options: { readonly inBatch: boolean }): void {
    const first = this.details[0];
    if (this.code === undefined || first === undefined) return;
    const summary = ERRORS[this.code].message.replace(/\.$/, '');
    throw new DomainError(this.code, {
      message: `${summary}: ${first.path}: ${first.message}.`,
      details: this.details,
      inBody: options.inBatch,
    });
  }
}
