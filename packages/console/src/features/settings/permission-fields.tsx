import type { Permission } from '@tollgate/contract';
import { Chip } from '../../ui/chip.js';
import { PERMISSION_GROUPS, toggled, verbOf } from './permission-groups.js';

/** The permissions of a key, in groups. */
export function PermissionFields({
  chosen,
  isWholeTenant,
  onChange,
}: {
  readonly chosen: readonly Permission[];
  /** Whether the scope of the key is all projects. Only such a key may have the permission tenant:admin. */
  readonly isWholeTenant: boolean;
  readonly onChange: (chosen: Permission[]) => void;
}) {
  const groups = PERMISSION_GROUPS.filter(
    ({ permissions }) => isWholeTenant || !permissions.includes('tenant:admin'),
  );
  return (
    <fieldset>
      <legend className="mb-1.5 text-[13px] font-medium">Permissions</legend>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] items-center gap-x-4 gap-y-1.5">
        {groups.map(({ label, permissions }) => (
          <div key={label} className="contents">
            <dt className="text-[13px] text-ink-soft">{label}</dt>
            <dd className="flex flex-wrap gap-1.5">
              {permissions.map((permission) => (
                <Chip
                  key={permission}
                  label={permission}
                  isChosen={chosen.includes(permission)}
                  onToggle={() => onChange(toggled(chosen, permission))}
                >
                  {verbOf(permission)}
                </Chip>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <p className="mt-2 text-xs text-ink-faint">
        Write and correct include read. Admin includes everything.
      </p>
    </fieldset>
  );
}
