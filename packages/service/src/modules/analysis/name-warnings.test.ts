import { type AnalysisRow, RESERVED_NAMES } from '@tollgate/contract';
import { expect, it } from 'vitest';
import { nameWarnings } from './name-warnings.js';

const PROJECT = {
  tenantId: 'ten_1',
  projectId: 'prj_1',
  projectNo: 1,
  kind: 'development',
  storage: 'shared',
} as const;
const row: AnalysisRow = {
  bucket: null,
  metric: 'tokens',
  unit: null,
  currency: 'USD',
  group: { model: 'a', region: null },
};

/** Knows none of the names. */
const nothing = {
  unknown: async (_project: object, _kind: string, names: readonly string[]) => ({
    names,
    known: ['llm.tokens', 'model'],
  }),
};

const named = async (...[query, rows]: [Parameters<typeof nameWarnings>[2], AnalysisRow[]?]) =>
  (await nameWarnings(nothing, PROJECT, query, rows)).map(({ code, name }) => [code, name]);

it('names metrics, and dimensions of groups and filters, each once', async () => {
  const filters = { model: { exists: true }, customer: { in: ['x'] } };
  expect(await named({ metrics: ['tokens', 'calls'], group_by: ['bucket', 'model'], filters })).toEqual([
    ['unknown_metric', 'tokens'],
    ['unknown_metric', 'calls'],
    ['unknown_dimension', 'model'],
    ['unknown_dimension', 'customer'],
  ]);
  expect(await named({})).toEqual([]);
});

it('propose the nearest name that usage has', async () => {
  const warnings = await nameWarnings(nothing, PROJECT, {
    metrics: ['llm.tokns', 'calls'],
    group_by: ['modle'],
  });
  expect(warnings.map(({ message }) => message.split('spelling.')[1])).toEqual([
    ' Did you mean `llm.tokens`?',
    '',
    ' Did you mean `model`?',
  ]);
});

it('takes what rows show for known, and reserved names for no dimensions', async () => {
  const query = {
    metrics: ['tokens', 'calls'],
    group_by: ['model', 'region', 'subject_type', ...RESERVED_NAMES],
  };
  expect(await named(query, [row])).toEqual([
    ['unknown_metric', 'calls'],
    ['unknown_dimension', 'region'],
  ]);
});
