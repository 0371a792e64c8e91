import { useLocation } from 'wouter';
import { useProject } from '../../../project.js';
import { PageHeader } from '../../../shell/page-header.js';
import { TemplateChooser } from './template-chooser.js';

/** Makes a rule set of a template, and leads to it. */
export function NewRuleSetPage() {
  const { id } = useProject();
  const [, navigate] = useLocation();
  return (
    <>
      <PageHeader above={{ label: 'Rules', href: `/p/${id}/rules` }} title="New from a template" />
      <div className="max-w-6xl px-4 pb-10 sm:px-6">
        <TemplateChooser onCreated={({ ruleSet }) => navigate(`/p/${id}/rules/extractor/${ruleSet.id}`)} />
      </div>
    </>
  );
}
