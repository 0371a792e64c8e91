import { ApiError } from '@tollgate/sdk/browser';
import { describe, expect, it } from 'vitest';
import { fieldErrorsOf } from './field-errors.js';

const refused = (...paths: string[]) =>
  new ApiError(
    400,
    'invalid_request',
    'The request is not valid.',
    paths.map((path) => ({ path, message: `wrong ${path}` })),
  );

describe('what a refused request said', () => {
  it('stands at its fields, and that of a part of a field at the field', () => {
    const errors = fieldErrorsOf(refused('title', 'rules[1].notify_at[0]'), ['title', 'rules[1].notify_at']);
    expect(errors.at('title')).toBe('wrong title');
    expect(errors.at('rules[1].notify_at')).toBe('wrong rules[1].notify_at[0]');
    expect(errors.at('rules[1]')).toBeUndefined();
    expect(errors.rest).toBeUndefined();
  });

  it('stands by itself where no field is meant, without those of fields', () => {
    const { rest } = fieldErrorsOf(refused('title', 'elsewhere'), ['title']);
    expect((rest as ApiError).details).toEqual([{ path: 'elsewhere', message: 'wrong elsewhere' }]);
    const conflict = new ApiError(409, 'name_taken', 'The name is taken.');
    expect((fieldErrorsOf(conflict, ['title']).rest as ApiError).message).toBe('The name is taken.');
  });

  it('is nothing as long as nothing was refused', () => {
    expect(fieldErrorsOf(null, ['title']).rest).toBeUndefined();
  });
});
