import { Badge } from '../../ui/badge.js';
import type { RuleSet } from './api.js';

/** Badges for the published version and the draft of a rule set. */
export function StatusBadges({ status, version }: Pick<RuleSet, 'status' | 'version'>) {
  return (
    <span className="inline-flex flex-wrap gap-1.5">
      {status === 'archived' && <Badge>archived</Badge>}
      {publishedVersion({ status, version }) !== undefined && (
        <Badge tone="good">published v{publishedVersion({ status, version })}</Badge>
      )}
      {status === 'draft' && <Badge tone="warn">draft v{version}</Badge>}
    </span>
  );
}

/** The badge of a pricing rule set that gives costs; the others give prices, as usual. */
export function PurposeBadge({ ruleSet }: { readonly ruleSet: RuleSet }) {
  return 'purpose' in ruleSet && ruleSet.purpose === 'cost' ? <Badge tone="accent">costs</Badge> : null;
}

/** Only the newest version can be a draft: the one before it, if any, is published. */
export function publishedVersion({
  status,
  version,
}: Pick<RuleSet, 'status' | 'version'>): number | undefined {
  if (status === 'published') return version;
  return status === 'draft' && version > 1 ? version - 1 : undefined;
}
