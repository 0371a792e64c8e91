import { useCallback, useMemo, useState } from 'react';
import type { RuleSet } from './api.js';
import { bodyOf, jsonOf } from './body.js';

/** A rule set as it is being edited: one text, which the form and the JSON view both change. */
export interface WorkingCopy {
  readonly text: string;
  /** What the text says; undefined while it is no JSON. */
  readonly body: unknown;
  readonly isDirty: boolean;
  /** Somebody else has saved the rule set since the editing began. */
  readonly isOutrun: boolean;
  readonly editText: (text: string) => void;
  readonly edit: (body: unknown) => void;
  readonly discard: () => void;
  /** `sent` was saved and is now `saved`; what was typed meanwhile stays. */
  readonly adopt: (sent: string, saved: RuleSet) => void;
}

interface Copy {
  /** What was saved when the editing began. */
  readonly base: string;
  readonly text: string;
}

export function useWorkingCopy(ruleSet: RuleSet): WorkingCopy {
  const saved = useMemo(() => jsonOf(bodyOf(ruleSet)), [ruleSet]);
  const [copy, setCopy] = useState<Copy>({ base: saved, text: saved });
  // Nothing was changed here: what is saved is what is shown.
  const { base, text } = copy.text === copy.base ? { base: saved, text: saved } : copy;
  const body = useMemo(() => parsed(text), [text]);
  const isDirty = useMemo(() => body === undefined || jsonOf(body) !== base, [body, base]);
  return {
    ...{ text, body, isDirty, isOutrun: isDirty && base !== saved },
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
