import { PERMISSIONS } from '@tollgate/contract';
import { expect, it } from 'vitest';
import { PERMISSION_GROUPS, toggled, verbOf } from './permission-groups.js';

it('groups every permission once', () => {
  expect(PERMISSION_GROUPS.flatMap(({ permissions }) => permissions).sort()).toEqual([...PERMISSIONS].sort());
});

it('names what may be done', () => {
  expect(verbOf('usage_control:write')).toBe('write');
});

it('turns permissions on and off, and leaves out what another one includes', () => {
  expect(toggled([], 'usage:ingest')).toEqual(['usage:ingest']);
  expect(toggled(['usage:ingest'], 'usage:read')).toEqual(['usage:ingest', 'usage:read']);
  expect(toggled(['rules:read'], 'rules:write')).toEqual(['rules:write']);
  expect(toggled(['rules:write'], 'rules:read')).toEqual(['rules:read']);
  expect(toggled(['usage:ingest', 'usage:read'], 'usage:correct')).toEqual(['usage:ingest', 'usage:correct']);
  expect(toggled(['usage:correct'], 'usage:read')).toEqual(['usage:read']);
  expect(toggled(['rules:write', 'usage:read'], 'rules:write')).toEqual(['usage:read']);
});
