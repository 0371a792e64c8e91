import type { ExtractorRuleSet } from '@tollgate/contract';
import { KeyRound } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useMay, useMe } from '../../api/session.js';
import { nowS } from '../../clock.js';
import { useProject } from '../../project.js';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy-button.js';
import { FailureNote } from '../../ui/states.js';
import { useTemplates } from '../rules/templates/api.js';
import { useApiKeyChanges } from '../settings/api.js';
import { ArrivalState, type Arrivals } from './arrival-state.js';
import { curlOf, KEY_PLACEHOLDER } from './curl.js';
import { sampleEventOf } from './sample-event.js';
import { FirstStep } from './step.js';

/** A command that sends an event, and word of what arrived. */
export function SendEventStep({
  ruleSet,
  sample,
  arrivals,
}: {
  readonly ruleSet: ExtractorRuleSet | undefined;
  /** JSON text of an event that the rule set reads. */
  readonly sample: string | undefined;
  readonly arrivals: Arrivals;
}) {
  const hasUsage = arrivals.status.processed > 0;
  // Whoever has sent events knows how; whoever does it here goes on seeing the command.
  const [hadUsage] = useState(hasUsage);
  const title = 'Send an event';
  if (ruleSet === undefined) {
    return (
      <FirstStep number={2} title={title} state="waiting" summary="A command to paste into a terminal." />
    );
  }
  return (
    <FirstStep
      number={2}
      title={title}
      state={hasUsage ? 'done' : 'open'}
      summary={<ArrivalState arrivals={arrivals} />}
    >
      {hadUsage ? (
        <details className="text-[13px]">
          <summary className="cursor-pointer text-ink-soft hover:text-ink">Send another</summary>
          <div className="mt-3">
            <Command key={ruleSet.id} ruleSet={ruleSet} sample={sample} />
          </div>
        </details>
      ) : (
        <Command key={ruleSet.id} ruleSet={ruleSet} sample={sample} />
      )}
    </FirstStep>
  );
}

function Command({
  ruleSet,
  sample,
}: {
  readonly ruleSet: ExtractorRuleSet;
  readonly sample: string | undefined;
}) {
  const { id: projectId } = useProject();
  const [key, setKey] = useState<string>();
  const [occurredAt] = useState(nowS);
  const rawJson = useSample(ruleSet, sample);
  const command = curlOf({
    origin: window.location.origin,
    projectId,
    ruleSetId: ruleSet.id,
    key,
    occurredAt,
    rawJson,
  });
  return (
    <div className="flex flex-col gap-3">
      <KeyMaker made={key} onKey={setKey} />
      <div className="overflow-hidden rounded-lg border border-line bg-panel">
        <div className="flex items-center justify-between border-b border-line py-1 pr-1.5 pl-3.5">
          <span className="text-xs text-ink-faint">For a terminal</span>
          <CopyButton look="quiet" size="small" text={command} />
        </div>
        <section
          aria-label="Command"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what is scrolled must be reached by the keyboard
          tabIndex={0}
          className="max-h-80 overflow-auto p-3.5 -outline-offset-2"
        >
          <pre className="font-mono text-xs leading-relaxed">{command}</pre>
        </section>
      </div>
    </div>
  );
}

/** What was pasted or, after a visit elsewhere, the sample of the template, or one that is made for the rules. */
function useSample(ruleSet: ExtractorRuleSet, pasted: string | undefined): string {
  const templates = useTemplates();
  return useMemo(() => {
    if (pasted !== undefined) return pasted;
    const template = templates.data?.find(({ id }) => id === ruleSet.template_id);
    return JSON.stringify(template?.samples[0]?.raw_json ?? sampleEventOf(ruleSet), null, 2);
  }, [pasted, templates.data, ruleSet]);
}

const FIRST_KEY_NAME = 'First event';

/**
 * Makes a key that may do this and nothing else. It is put into the command, which is the only place where it
 * is seen.
 */
function KeyMaker({
  made,
  onKey,
}: {
  readonly made: string | undefined;
  readonly onKey: (key: string) => void;
}) {
  const { id: projectId } = useProject();
  const { create } = useApiKeyChanges();
  const isTenantWide = useMe().project_id === null;
  const mayMake = useMay('tenant:admin') && isTenantWide;
  if (made !== undefined) {
    return (
      <p role="status" className="text-[13px] text-ink-soft">
        The command holds a new key that may send events to this project. It is shown this once; what is
        stored cannot be turned back into it.
      </p>
    );
  }
  if (!mayMake) {
    return (
      <p className="text-[13px] text-ink-soft">
        Put a key with the permission usage:ingest in place of{' '}
        <code className="font-mono text-xs">{KEY_PLACEHOLDER}</code>. An administrator of the tenant makes one
        under Settings.
      </p>
    );
  }
  const make = () =>
    create.mutate(
      { name: FIRST_KEY_NAME, permissions: ['usage:ingest'], project_id: projectId },
      { onSuccess: ({ key }) => onKey(key) },
    );
  return (
    <>
      <div className="flex flex-wrap items-center gap-3 text-[13px] text-ink-soft">
        <Button look="primary" isBusy={create.isPending} onClick={make}>
          <KeyRound size={14} />
          Create a key for it
        </Button>
        <span>
          or put one of yours in place of <code className="font-mono text-xs">{KEY_PLACEHOLDER}</code>.
        </span>
      </div>
      {create.isError && <FailureNote error={create.error} />}
    </>
  );
}
