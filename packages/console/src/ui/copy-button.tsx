import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { Button, type ButtonProps } from './button.js';

/**
 * Puts a text into the clipboard, and says so until the text is another. Where the clipboard is refused it
 * says that.
 */
export function CopyButton({
  text,
  label = 'Copy',
  ...rest
}: Omit<ButtonProps, 'children' | 'onClick'> & { readonly text: string; readonly label?: string }) {
  const [outcome, setOutcome] = useState<{ readonly of: string; readonly isCopied: boolean }>();
  const current = outcome?.of === text ? outcome : undefined;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setOutcome({ of: text, isCopied: true });
    } catch {
      setOutcome({ of: text, isCopied: false });
    }
  };
  return (
    <Button {...rest} onClick={() => void copy()}>
      {current?.isCopied === true ? <Check size={14} /> : <Copy size={14} />}
      <span aria-live="polite">
        {current === undefined ? label : current.isCopied ? 'Copied' : 'Select and copy by hand'}
      </span>
    </Button>
  );
}
