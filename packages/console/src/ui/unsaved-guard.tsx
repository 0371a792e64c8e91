import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { LeaveDialog } from './dialog.js';

/** Asks before unsaved work is left behind: by a link of the console here, by the browser otherwise. */
export function UnsavedGuard({
  isDirty,
  keptBelow,
}: {
  readonly isDirty: boolean;
  /** An address: to it, and to what lies below it, the work is taken along. */
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
      What was changed on this page is not saved yet.
    </LeaveDialog>
  );
}
