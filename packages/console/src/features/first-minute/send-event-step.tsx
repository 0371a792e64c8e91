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

/** The step with a command that sends an event, and the state of received events. */
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
  // If usage exists when the page opens, the command is collapsed; after a first event here it stays visible.
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
          <summary className="cursor-pointer text-ink-soft hover:text-ink">Send another event</summary>
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
      <KeyCreator created={key} onKey={setKey} />
      <div className="overflow-hidden rounded-lg border border-line bg-panel">
        <div className="flex items-center justify-between border-b border-line py-1 pr-1.5 pl-3.5">
          <span className="text-xs text-ink-faint">Terminal</span>
          <CopyButton look="quiet" size="small" text={command} />
        </div>
        <section
          aria-label="Command"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
          tabIndex={0}
          className="max-h-80 overflow-auto p-3.5 -outline-offset-2"
        >
          <pre className="font-mono text-xs leading-relaxed">{command}</pre>
        </section>
      </div>
    </div>
  );
}

/** The pasted event; otherwise the sample of the template, or a generated one for the rules. */
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
 * Creates an API key that may only send events to this project. The key is shown only in the command.
 */
function KeyCreator({
  created,
  onKey,
}: {
  readonly created: string | undefined;
  readonly onKey: (key: string) => void;
}) {
  const { id: projectId } = useProject();
  const { create } = useApiKeyChanges();
  const isTenantWide = useMe().project_id === null;
  const mayCreate = useMay('tenant:admin') && isTenantWide;
  if (created !== undefined) {
    return (
      <p role="status" className="text-[13px] text-ink-soft">
        The command contains a new API key that can send events to this project. The key is shown only once.
      </p>
    );
  }
  if (!mayCreate) {
    return (
      <p className="text-[13px] text-ink-soft">
        Replace <code className="font-mono text-xs">{KEY_PLACEHOLDER}</code> with a key that has the
        permission usage:ingest. An administrator can create one under Settings.
      </p>
    );
  }
  const submit = () =>
    create.mutate(
      { name: FIRST_KEY_NAME, permissions: ['usage:ingest'], project_id: projectId },
      { onSuccess: ({ key }) => onKey(key) },
    );
  return (
    <>
      <div className="flex flex-wrap items-center gap-3 text-[13px] text-ink-soft">
        <Button look="primary" isBusy={create.isPending} onClick={submit}>
          <KeyRound size={14} />
          Create API key
        </Button>
        <span>
          or replace <code className="font-mono text-xs">{KEY_PLACEHOLDER}</code> with your own key.
        </span>
      </div>
      {create.isError && <FailureNote error={create.error} />}
    </>
  );
}
