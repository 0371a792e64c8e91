import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { LeaveDialog } from './dialog.js';

/** Asks before unsaved changes are lost: this component for links in the console, the browser otherwise. */
export function UnsavedGuard({
  isDirty,
  keptBelow,
}: {
  readonly isDirty: boolean;
  /** An address. Navigation to it or below it keeps the unsaved changes. */
  readonly keptBelow?: string;
}) {
  const [, navigate] = useLocation();
  const [leaving, setLeaving] = useState<string>();
  useEffect(() => {
    if (!isDirty) return;
    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    const onClick = (event: MouseEvent) => {
      const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
      const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey);
      if (!(link instanceof HTMLAnchorElement) || !isPlain || link.target === '_blank') return;
      if (link.origin !== location.origin || link.hash !== '') return;
      if (keptBelow !== undefined && `${link.pathname}/`.startsWith(`${keptBelow}/`)) return;
      event.preventDefault();
      event.stopPropagation();
      setLeaving(link.pathname + link.search);
    };
    window.addEventListener('beforeunload', onUnload);
    document.addEventListener('click', onClick, { capture: true });
    return () => {
      window.removeEventListener('beforeunload', onUnload);
      document.removeEventListener('click', onClick, { capture: true });
    };
  }, [isDirty, keptBelow]);
  if (leaving === undefined) return null;
  return (
    <LeaveDialog
      title="Leave without saving?"
      onStay={() => setLeaving(undefined)}
      onLeave={() => navigate(leaving)}
    >
      Your changes on this page are not saved yet.
    </LeaveDialog>
  );
}
