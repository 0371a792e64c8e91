import { useLocation } from 'wouter';
import { useProject } from '../../../project.js';
import { PageHeader } from '../../../shell/page-header.js';
import { TemplateChooser } from './template-chooser.js';

/** Creates a rule set from a template, and opens it. */
export function NewRuleSetPage() {
  const { id } = useProject();
  const [, navigate] = useLocation();
  return (
    <>
      <PageHeader above={{ label: 'Rules', href: `/p/${id}/rules` }} title="New rule set from a template" />
      <div className="max-w-6xl px-4 pb-10 sm:px-6">
        <TemplateChooser onCreated={({ ruleSet }) => navigate(`/p/${id}/rules/extractor/${ruleSet.id}`)} />
      </div>
    </>
  );
}
