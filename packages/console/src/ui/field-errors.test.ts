import { describe, expect, it } from 'vitest';
import { ApiFailure } from '../api/client.js';
import { fieldErrorsOf } from './field-errors.js';

const refused = (...paths: string[]) =>
  new ApiFailure(
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

  it('is told by itself where no field is meant, without what stands at one', () => {
    const { rest } = fieldErrorsOf(refused('title', 'elsewhere'), ['title']);
    expect((rest as ApiFailure).details).toEqual([{ path: 'elsewhere', message: 'wrong elsewhere' }]);
    const conflict = new ApiFailure(409, 'conflict', 'The name is taken.');
    expect((fieldErrorsOf(conflict, ['title']).rest as ApiFailure).message).toBe('The name is taken.');
  });

  it('is nothing as long as nothing was refused', () => {
    expect(fieldErrorsOf(null, ['title']).rest).toBeUndefined();
  });
});
