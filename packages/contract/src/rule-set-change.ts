import { type Static, Type } from 'typebox';
import { closed, Nullable } from './common.js';

/** Upper bounds of the changes of one version that are shown or logged, and of their JSON; the rest is counted. */
export const RULE_SET_CHANGES_MAX = 100;
export const RULE_SET_CHANGES_BYTES_MAX = 32_768;

const CHANGE_KINDS = ['added', 'removed', 'changed', 'moved'] as const;

export const RuleSetChange = Type.Object(
  {
    path: Type.String({
      description:
        'The changed field, an entry of a list by its name (without a name by its metric, an alias by its pattern), or a field of that entry, ' +
        'e.g. `rules[output tokens].unit_price_expr`.',
    }),
    change: Type.Enum([...CHANGE_KINDS], {
      description: '`moved`: the position of the entry among those in both versions has changed.',
    }),
    before: Type.Optional(Type.Unknown({ description: 'The previous value; absent for an added entry.' })),
    after: Type.Optional(Type.Unknown({ description: 'The new value; absent for a removed entry.' })),
    position: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Position of an added or moved entry in the current list, from 0.',
      }),
    ),
  },
  { ...closed, description: 'A difference between two versions of a rule set.' },
);

/** Fields that every version in a list of versions has in addition to its own. */
export const versionChangeFields = {
  changes: Nullable(
    Type.Array(RuleSetChange, {
      maxItems: RULE_SET_CHANGES_MAX,
      description: 'Changes since the version before; null for the first version.',
    }),
  ),
  changes_omitted: Type.Integer({
    minimum: 0,
    description: `Changes left out of \`changes\`, which holds at most ${RULE_SET_CHANGES_MAX} and ${RULE_SET_CHANGES_BYTES_MAX} bytes.`,
  }),
};

export type RuleSetChange = Static<typeof RuleSetChange>;
