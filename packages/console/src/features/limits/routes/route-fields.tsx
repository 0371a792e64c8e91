import { WEEK_STARTS } from '@tollgate/contract';
import { useMay } from '../../../api/session.js';
import { AnchorField, TimezoneField } from '../../../ui/calendar-fields.js';
import { Field, Select, TextInput } from '../../../ui/field.js';
import type { FieldErrors } from '../../../ui/field-errors.js';
import { useAccounts } from '../../billing/api.js';
import { usePublishedPlans } from '../plans/api.js';
import { ParentFields } from './parent-fields.js';
import type { RouteDraft } from './route-draft.js';

interface RouteFieldsProps {
  readonly draft: RouteDraft;
  readonly isNew: boolean;
  readonly errors: FieldErrors;
  readonly onEdit: (change: Partial<RouteDraft>) => void;
}

const ACCOUNTS_LIST = 'route-accounts';
const WEEK_OPTIONS = WEEK_STARTS.map((day) => ({
  value: day,
  label: day.charAt(0).toUpperCase() + day.slice(1),
}));

/** All fields of the route form. */
export function RouteFields(props: RouteFieldsProps) {
  return (
    <>
      <SubjectFields {...props} />
      <ParentFields {...props} />
      <BindingFields {...props} />
      <CalendarFields {...props} />
    </>
  );
}

function SubjectFields({ draft, errors, onEdit }: RouteFieldsProps) {
  const { subject_type, subject_id, isDefault } = draft;
  return (
    <div className="grid items-start gap-3 sm:grid-cols-2">
      <Field label="Subject type" hint="As sent in events, e.g. customer." error={errors.at('subject_type')}>
        {(control) => (
          <TextInput
            {...control}
            required
            autoFocus
            value={subject_type}
            onChange={(event) => onEdit({ subject_type: event.target.value })}
          />
        )}
      </Field>
      <Field label="Subject ID" hint="Exact match." error={errors.at('subject_id')}>
        {(control) => (
          <TextInput
            {...control}
            required={!isDefault}
            disabled={isDefault}
            placeholder={isDefault ? '*' : ''}
            value={isDefault ? '' : subject_id}
            onChange={(event) => onEdit({ subject_id: event.target.value })}
          />
        )}
      </Field>
      <label className="flex items-center gap-2 text-[13px] sm:col-span-2">
        <input
          type="checkbox"
          className="size-4 accent-accent"
          checked={isDefault}
          onChange={(event) => onEdit({ isDefault: event.target.checked })}
        />
        Default route: all subjects of this type without their own route
      </label>
    </div>
  );
}

function BindingFields({ draft, isNew, errors, onEdit }: RouteFieldsProps) {
  const { data: plans = [] } = usePublishedPlans();
  const chosen = draft.usage_limit_plan_id;
  const known = plans.map(({ plan_id, title }) => ({ value: plan_id, label: title }));
  const options = [
    { value: '', label: 'No plan' },
    ...known,
    ...(chosen === '' || known.some(({ value }) => value === chosen)
      ? []
      : [{ value: chosen, label: 'Current plan (archived)' }]),
  ];
  return (
    <>
      <Field
        label="Limit plan"
        hint="Only published plans can be assigned."
        error={errors.at('usage_limit_plan_id')}
      >
        {(control) => (
          <Select
            {...control}
            className="w-full"
            options={options}
            value={chosen}
            onChange={(usage_limit_plan_id) => onEdit({ usage_limit_plan_id })}
          />
        )}
      </Field>
      <Field label="Account" hint={accountHint(draft, isNew)} error={errors.at('account_id')}>
        {(control) => (
          <TextInput
            {...control}
            placeholder="acct_…"
            list={ACCOUNTS_LIST}
            value={draft.account_id}
            onChange={(event) => onEdit({ account_id: event.target.value })}
          />
        )}
      </Field>
      {useMay('wallets:read') && <AccountSuggestions />}
    </>
  );
}

function accountHint({ parent_type }: RouteDraft, isNew: boolean): string {
  if (parent_type !== '') return 'The account that pays. Leave empty for that of the parent.';
  return isNew ? 'The account that pays. Leave empty to create one.' : 'The account that pays.';
}

function AccountSuggestions() {
  const accounts = useAccounts('');
  return (
    <datalist id={ACCOUNTS_LIST}>
      {accounts.data?.pages
        .flatMap((page) => page.accounts)
        .map(({ id, name }) => (
          <option key={id} value={id} label={name} />
        ))}
    </datalist>
  );
}

function CalendarFields({ draft, errors, onEdit }: RouteFieldsProps) {
  const { timezone, week_start, usage_limit_anchor: anchor } = draft;
  return (
    <div className="grid items-start gap-3 sm:grid-cols-2">
      <TimezoneField
        hint="Calendar days and months start at midnight here."
        error={errors.at('timezone')}
        value={timezone}
        onChange={(chosen) => onEdit({ timezone: chosen })}
      />
      <Field label="Week starts on" error={errors.at('week_start')}>
        {(control) => (
          <Select
            {...control}
            className="w-full"
            options={WEEK_OPTIONS}
            value={week_start}
            onChange={(day) => onEdit({ week_start: day })}
          />
        )}
      </Field>
      <AnchorField
        hint="Start of periods such as 7 days, in this timezone. Leave empty to start now."
        error={errors.at('usage_limit_anchor')}
        className="sm:col-span-2"
        value={anchor}
        timezone={timezone}
        onChange={(usage_limit_anchor) => onEdit({ usage_limit_anchor })}
      />
    </div>
  );
}
