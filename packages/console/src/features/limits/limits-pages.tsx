import type { ReactNode } from 'react';
import { Link, Route, Switch, useLocation } from 'wouter';
import { useProject } from '../../project.js';
import { PageHeader } from '../../shell/shell.js';
import { classes } from '../../ui/classes.js';
import { PlanPage } from './plan-page.js';
import { PlansPage } from './plans-page.js';
import { SubjectsPage } from './subjects-page.js';

export function LimitsPages() {
  return (
    <Switch>
      <Route path="/p/:projectId/limits/plans/:planId">{({ planId }) => <PlanPage planId={planId} />}</Route>
      <Route path="/p/:projectId/limits/plans">
        <WithTabs>
          <PlansPage />
        </WithTabs>
      </Route>
      <Route>
        <WithTabs>
          <SubjectsPage />
        </WithTabs>
      </Route>
    </Switch>
  );
}

function WithTabs({ children }: { readonly children: ReactNode }) {
  const { id } = useProject();
  const [location] = useLocation();
  const tabs = [
    { label: 'Subjects', href: `/p/${id}/limits` },
    { label: 'Plans', href: `/p/${id}/limits/plans` },
  ];
  return (
    <>
      <PageHeader title="Limits" />
      <nav aria-label="Limits" className="mb-5 flex gap-5 border-b border-line px-4 sm:px-6">
        {tabs.map(({ label, href }) => (
          <Link
            key={href}
            href={href}
            aria-current={location === href ? 'page' : undefined}
            className={classes(
              '-mb-px border-b-2 pb-2 text-[13px] font-medium',
              location === href
                ? 'border-accent text-ink'
                : 'border-transparent text-ink-soft hover:text-ink',
            )}
          >
            {label}
          </Link>
        ))}
      </nav>
      {children}
    </>
  );
}
