import type { Warning } from '@tollgate/contract';
import { TriangleAlert, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { onSaved } from '../api/transport.js';
import { IconButton } from '../ui/button.js';
import { WarningList } from '../ui/warning-list.js';

const NONE: readonly Warning[] = [];

/** Warnings about the last save. They stay until the user closes them or saves something else. */
export function SavedWarnings() {
  const [warnings, setWarnings] = useState(NONE);
  const [location] = useLocation();
  const project = location.split('/', 3).join('/');
  useEffect(() => onSaved(setWarnings), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another project has its own names
  useEffect(() => setWarnings(NONE), [project]);
  return (
    <div
      role="status"
      className="pointer-events-none fixed inset-x-3 bottom-3 z-40 flex justify-end sm:inset-x-6"
    >
      {warnings.length > 0 && (
        <section
          aria-label="Saved, with warnings"
          className="pointer-events-auto flex max-w-xl items-start gap-2.5 rounded-lg border border-line bg-warn-soft px-3.5 py-2.5 text-[13px] text-warn shadow-lg"
        >
          <TriangleAlert size={16} className="mt-0.5 shrink-0" />
          <div className="max-h-60 min-w-0 grow overflow-y-auto">
            <p className="font-semibold">Saved, but check these names</p>
            <WarningList warnings={warnings} />
          </div>
          <IconButton label="Close warnings" onClick={() => setWarnings(NONE)}>
            <X size={14} />
          </IconButton>
        </section>
      )}
    </div>
  );
}
