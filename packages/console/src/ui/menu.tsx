import { DropdownMenu as Radix } from 'radix-ui';
import { Fragment, type ReactNode, useRef } from 'react';
import { classes } from './classes.js';

export interface MenuItem {
  readonly label: string;
  readonly icon?: ReactNode;
  readonly isDangerous?: boolean;
  readonly isChosen?: boolean;
  readonly isDisabled?: boolean;
  /** Consecutive items of the same group are listed under its name. */
  readonly group?: string | undefined;
  readonly onSelect: () => void;
}

/** A menu that opens from a button. */
export function Menu({
  trigger,
  items,
}: {
  readonly trigger: ReactNode;
  readonly items: readonly MenuItem[];
}) {
  const chosen = useRef<() => void>(undefined);
  // Runs the action after the button has the focus again, so that a dialog returns the focus to the button.
  const act = () => {
    const chosenNow = chosen.current;
    chosen.current = undefined;
    if (chosenNow !== undefined) queueMicrotask(chosenNow);
  };
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align="end"
          sideOffset={4}
          onCloseAutoFocus={act}
          className="z-50 max-h-96 min-w-44 overflow-y-auto rounded-lg border border-line bg-panel p-1 shadow-lg"
        >
          {items.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the items of an open menu do not move
            <Fragment key={index}>
              {item.group !== undefined && item.group !== items[index - 1]?.group && (
                <Radix.Label className="px-2.5 pt-2 pb-1 text-xs text-ink-faint">{item.group}</Radix.Label>
              )}
              <Item
                {...item}
                onSelect={() => {
                  chosen.current = item.onSelect;
                }}
              />
            </Fragment>
          ))}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

function Item({ label, icon, isDangerous, isChosen, isDisabled = false, onSelect }: MenuItem) {
  return (
    <Radix.Item
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
  );
}
