import { useCallback, useMemo, useState } from 'react';
import type { RuleSet } from './api.js';
import { bodyOf, jsonOf } from './body.js';

/** The edited text of a rule set, which the form and the JSON view both change. */
export interface WorkingCopy {
  readonly text: string;
  /** The parsed text; undefined while it is not valid JSON. */
  readonly body: unknown;
  readonly isDirty: boolean;
  /** Whether the rule set was saved elsewhere since editing began. */
  readonly isStale: boolean;
  readonly editText: (text: string) => void;
  readonly edit: (body: unknown) => void;
  readonly discard: () => void;
  /** Takes over the result of saving `sent`. Edits made in the meantime are kept. */
  readonly adopt: (sent: string, saved: RuleSet) => void;
}

interface Copy {
  /** The saved text when editing began. */
  readonly base: string;
  readonly text: string;
}

export function useWorkingCopy(ruleSet: RuleSet): WorkingCopy {
  const saved = useMemo(() => jsonOf(bodyOf(ruleSet)), [ruleSet]);
  const [copy, setCopy] = useState<Copy>({ base: saved, text: saved });
  // Without local edits, the saved rule set is shown.
  const { base, text } = copy.text === copy.base ? { base: saved, text: saved } : copy;
  const body = useMemo(() => parsed(text), [text]);
  const isDirty = useMemo(() => body === undefined || jsonOf(body) !== base, [body, base]);
  return {
    ...{ text, body, isDirty, isStale: isDirty && base !== saved },
    editText: useCallback((edited) => setCopy({ base, text: edited }), [base]),
    edit: useCallback((edited) => setCopy({ base, text: jsonOf(edited) }), [base]),
    discard: useCallback(() => setCopy({ base: saved, text: saved }), [saved]),
    adopt: useCallback((sent, savedNow) => {
      const now = jsonOf(bodyOf(savedNow));
      setCopy((latest) => ({ base: now, text: latest.text === sent ? now : latest.text }));
    }, []),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
