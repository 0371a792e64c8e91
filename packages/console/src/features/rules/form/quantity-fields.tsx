import type { ChargeItemExtractor } from '@tollgate/contract';
import { Button } from '../../../ui/button.js';
import { withField, withPaths } from '../body.js';
import { useRulesForm } from './context.js';
import { ChoiceField, type FormPart, TextField } from './fields.js';
import { PathList } from './path-list.js';
import { FieldGrid } from './section.js';

const QUANTITY_TYPES = [
  { value: 'number', label: 'JSON number' },
  { value: 'decimal_string', label: 'Decimal in a string' },
];
const ON_NEGATIVE = [
  { value: 'fail', label: 'Fail the event' },
  { value: 'clamp', label: 'Charge 0, with a note' },
  { value: 'keep', label: 'Subtract nothing, with a note' },
];

type StatedTotal = NonNullable<ChargeItemExtractor['stated_total']>;

/** The paths of the quantity of a charge item, and how several counts are combined. */
export function QuantityFields(part: FormPart<ChargeItemExtractor>) {
  const { value, path, onChange } = part;
  const { sum_paths: sumPaths = [], less_paths: lessPaths = [], stated_total: statedTotal } = value;
  const setPaths = (name: 'sum_paths' | 'less_paths') => (paths: readonly string[]) =>
    onChange(withPaths(value, name, paths));
  return (
    <>
      <FieldGrid>
        <TextField
          {...part}
          name="path"
          label="Quantity path"
          {...(sumPaths.length > 0 && { hint: 'Optional if there are paths below.' })}
          isRequired={sumPaths.length === 0}
          isCode
          placeholder="usage.tokens"
        />
        <ChoiceField {...part} name="type" label="Quantity format" options={QUANTITY_TYPES} />
      </FieldGrid>
      <PathList
        path={`${path}.sum_paths`}
        paths={sumPaths}
        label="Plus numbers at"
        addLabel="Add a list or another quantity"
        addHint="For counts in a list, such as usage.iterations[*].input_tokens: all numbers found are summed."
        onChange={setPaths('sum_paths')}
      />
      <PathList
        path={`${path}.less_paths`}
        paths={lessPaths}
        label="Minus quantity at"
        addLabel="Subtract another quantity"
        addHint="For a quantity that includes others that are charged separately, such as cached tokens."
        onChange={setPaths('less_paths')}
      />
      {(lessPaths.length > 0 || value.on_negative !== undefined) && (
        <FieldGrid>
          <ChoiceField
            {...part}
            value={{ ...value, on_negative: value.on_negative ?? 'fail' }}
            name="on_negative"
            label="If the result is negative"
            hint="Providers sometimes report counts that do not add up."
            options={ON_NEGATIVE}
          />
        </FieldGrid>
      )}
      {(lessPaths.length > 0 || statedTotal !== undefined) && (
        <StatedTotalFields
          value={statedTotal}
          path={`${path}.stated_total`}
          onChange={(next) => onChange(withField(value, 'stated_total', next))}
        />
      )}
    </>
  );
}

/** A total in the payload that decides whether the quantity includes the subtracted counts. */
function StatedTotalFields({
  value,
  path,
  onChange,
}: {
  readonly value: StatedTotal | undefined;
  readonly path: string;
  readonly onChange: (value: StatedTotal | undefined) => void;
}) {
  const { isReadOnly } = useRulesForm();
  if (value === undefined) {
    if (isReadOnly) return null;
    return (
      <Button
        look="quiet"
        size="small"
        className="self-start"
        title="For providers that may or may not include these counts in the quantity. Their total decides."
        onClick={() => onChange({ path: '' })}
      >
        Check against a total in the event
      </Button>
    );
  }
  return (
    <fieldset className="flex flex-col gap-3 rounded-lg border border-line px-4 pt-2 pb-3">
      <legend className="px-1 text-[13px] font-medium">Total in the event</legend>
      <p className="text-xs text-ink-faint">
        If it equals the quantity plus the counts below plus everything subtracted, the quantity does not
        include the subtracted counts. Nothing is subtracted then, and the event gets a note.
      </p>
      <FieldGrid>
        <TextField
          value={value}
          path={path}
          onChange={onChange}
          name="path"
          label="Total path"
          isRequired
          isCode
          placeholder="usage.total_tokens"
        />
      </FieldGrid>
      <PathList
        path={`${path}.other_paths`}
        paths={value.other_paths ?? []}
        label="Also includes"
        addLabel="Add an included count"
        addHint="A count that is neither the quantity nor subtracted from it, such as prompt tokens."
        onChange={(paths) =>
          onChange(withField(value, 'other_paths', paths.length === 0 ? undefined : [...paths]))
        }
      />
      {!isReadOnly && (
        <Button look="quiet" size="small" className="self-start" onClick={() => onChange(undefined)}>
          Remove check
        </Button>
      )}
    </fieldset>
  );
}
