import { DropdownMenu as Radix } from 'radix-ui';
import type { ReactNode } from 'react';
import { classes } from './classes.js';

export interface MenuItem {
  readonly label: string;
  readonly icon?: ReactNode;
  readonly isDangerous?: boolean;
  readonly isChosen?: boolean;
  readonly isDisabled?: boolean;
  readonly onSelect: () => void;
}

/** A list of what can be done with a thing, behind its button. */
export function Menu({
  trigger,
  items,
}: {
  readonly trigger: ReactNode;
  readonly items: readonly MenuItem[];
}) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align="end"
          sideOffset={4}
          className="z-50 max-h-96 min-w-44 overflow-y-auto rounded-lg border border-line bg-panel p-1 shadow-lg"
        >
          {items.map(({ label, icon, isDangerous, isChosen, isDisabled = false, onSelect }) => (
            <Radix.Item
              key={label}
              disabled={isDisabled}
              onSelect={onSelect}
              className={classes(
                'flex cursor-pointer items-center gap-2 rounded-md px-2.5 py-1.5 text-[13px] outline-none data-disabled:cursor-default data-disabled:opacity-50 data-highlighted:bg-sunken',
                isDangerous === true && 'text-bad',
                isChosen === true && 'font-semibold',
              )}
            >
              {icon}
              {label}
            </Radix.Item>
          ))}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
