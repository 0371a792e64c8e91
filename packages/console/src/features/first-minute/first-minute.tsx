import { useState } from 'react';
import { useMay } from '../../api/session.js';
import { useProject } from '../../project.js';
import { EmptyState, ReadFailure, Skeleton } from '../../ui/states.js';
import { useBoards } from '../boards/api.js';
import { useArrivals, useFirstRules } from './api.js';
import { FirstChartStep } from './first-chart-step.js';
import { RulesStep } from './rules-step.js';
import { SendEventStep } from './send-event-step.js';

/** The steps from an empty project to its first chart, each with its state. */
export function FirstMinute() {
  const mayRead = useMay('rules:read');
  const maySee = useMay('usage:read');
  if (!mayRead || !maySee) {
    return (
      <EmptyState title="See your usage">
        Boards show charts of usage and cost. To see the first steps, sign in with a key that has the
        permissions rules:read and usage:read.
      </EmptyState>
    );
  }
  return <Steps />;
}

function Steps() {
  const { name } = useProject();
  const rules = useFirstRules();
  const arrivals = useArrivals();
  const boards = useBoards();
  const [sample, setSample] = useState<string>();
  const [createdId, setCreatedId] = useState<string>();
  const failed = [rules, arrivals, boards].find(({ isError }) => isError);
  if (failed !== undefined && failed.data === undefined) {
    return <ReadFailure of={failed} />;
  }
  if (rules.data === undefined || arrivals.data === undefined || boards.data === undefined) {
    return <Skeleton className="h-96" />;
  }
  const { published } = rules.data;
  // Prefers the rule set that was created here, because its sample event is known.
  const ruleSet = published.find(({ id }) => id === createdId) ?? published[0];
  const hasUsage = arrivals.data.status.processed > 0;
  return (
    <div className="max-w-6xl">
      <p className="mb-6 text-[13px] text-ink-soft">
        Three steps to the first chart of <bdi>{name}</bdi>. Each step completes automatically.
      </p>
      <ol>
        <RulesStep
          ruleSet={ruleSet}
          drafts={rules.data.drafts}
          onCreated={(created) => {
            setSample(created.sample);
            setCreatedId(created.ruleSet.id);
          }}
        />
        <SendEventStep
          ruleSet={ruleSet}
          sample={ruleSet?.id === createdId ? sample : undefined}
          arrivals={arrivals.data}
        />
        <FirstChartStep hasUsage={hasUsage} boards={boards.data} />
      </ol>
    </div>
  );
}
