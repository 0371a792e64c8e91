import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { Button, type ButtonProps } from './button.js';

/**
 * Copies a text to the clipboard, and shows the result until the text changes.
 */
export function CopyButton({
  text,
  label = 'Copy',
  ...rest
}: Omit<ButtonProps, 'children' | 'onClick'> & { readonly text: string; readonly label?: string }) {
  const [outcome, setOutcome] = useState<{ readonly text: string; readonly isCopied: boolean }>();
  const current = outcome?.text === text ? outcome : undefined;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setOutcome({ text, isCopied: true });
    } catch {
      setOutcome({ text, isCopied: false });
    }
  };
  return (
    <Button {...rest} onClick={() => void copy()}>
      {current?.isCopied === true ? <Check size={14} /> : <Copy size={14} />}
      <span aria-live="polite">
        {current === undefined ? label : current.isCopied ? 'Copied' : 'Copy manually'}
      </span>
    </Button>
  );
}
