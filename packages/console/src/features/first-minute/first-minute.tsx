import { useState } from 'react';
import { useMay } from '../../api/session.js';
import { useProject } from '../../project.js';
import { EmptyState, ReadFailure, Skeleton } from '../../ui/states.js';
import { useBoards } from '../boards/api.js';
import { useArrivals, useFirstRules } from './api.js';
import { FirstChartStep } from './first-chart-step.js';
import { RulesStep } from './rules-step.js';
import { SendEventStep } from './send-event-step.js';

/** The way from an empty project to its first chart, each step with how far it is. */
export function FirstMinute() {
  const mayRead = useMay('rules:read');
  const maySee = useMay('usage:read');
  if (!mayRead || !maySee) {
    return (
      <EmptyState title="See your usage">
        A board holds charts of usage, cost and counts. The way there in three steps looks at rules and usage,
        which needs the permissions rules:read and usage:read.
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
  // The one that was made here comes first: its event is at hand.
  const ruleSet = published.find(({ id }) => id === createdId) ?? published[0];
  const hasUsage = arrivals.data.status.processed > 0;
  return (
    <div className="max-w-6xl">
      <p className="mb-6 text-[13px] text-ink-soft">
        Three steps from an empty project to the first chart of <bdi>{name}</bdi>. Each ticks itself off.
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
