import { lazy, Suspense, useEffect } from 'react';
import { Redirect, Route, Switch, useLocation, useSearch } from 'wouter';
import { useProjects } from './api/projects.js';
import { MeProvider, useSession } from './api/session.js';
import { BoardPage } from './features/boards/board-page.js';
import { BoardsPage } from './features/boards/boards-page.js';
import { projectOfPurchase } from './features/settings/purchase.js';
import { SignInPage } from './features/sign-in/sign-in-page.js';
import { ProjectProvider } from './project.js';
import { NotFoundPage } from './shell/not-found-page.js';
import { PageBoundary } from './shell/page-boundary.js';
import { PageHeader } from './shell/page-header.js';
import { Shell } from './shell/shell.js';
import { InlineLink } from './ui/inline-link.js';
import { EmptyState, type FailedRead, ReadFailure, Skeleton } from './ui/states.js';

/** All pages except boards, the start page, are loaded when they are first opened. */
const UsagePages = lazy(async () => ({
  default: (await import('./features/usage/usage-pages.js')).UsagePages,
}));
const LimitsPages = lazy(async () => ({
  default: (await import('./features/limits/limits-pages.js')).LimitsPages,
}));
const AccountsPage = lazy(async () => ({
  default: (await import('./features/billing/accounts-page.js')).AccountsPage,
}));
const AccountPage = lazy(async () => ({
  default: (await import('./features/billing/account-page.js')).AccountPage,
}));
const SettingsPages = lazy(async () => ({
  default: (await import('./features/settings/settings-pages.js')).SettingsPages,
}));
const WebhooksPages = lazy(async () => ({
  default: (await import('./features/webhooks/webhooks-pages.js')).WebhooksPages,
}));
const RulesPages = lazy(async () => ({
  default: (await import('./features/rules/rules-pages.js')).RulesPages,
}));
const StartPage = lazy(async () => ({
  default: (await import('./features/first-minute/start-page.js')).StartPage,
}));
const FirstProjectPage = lazy(async () => ({
  default: (await import('./features/first-minute/first-project.js')).FirstProjectPage,
}));

/** Address of the sign-in page, which then returns to the current page. */
function signInPath(): string {
  const here = window.location.pathname + window.location.search;
  return here === '/' ? '/sign-in' : `/sign-in?from=${encodeURIComponent(here)}`;
}

/** The console: the sign-in page, or all other pages for a signed-in user. */
export function App() {
  const session = useSession();
  const [location, navigate] = useLocation();
  const isSigningIn = location === '/sign-in';
  useEffect(() => {
    if (session.data === null && !isSigningIn) navigate(signInPath(), { replace: true });
  }, [session.data, isSigningIn, navigate]);
  if (session.isError) return <CenteredFailure of={session} />;
  if (isSigningIn) return <SignInPage />;
  if (session.data === undefined || session.data === null) return null;
  return (
    <MeProvider me={session.data}>
      <Switch>
        <Route path="/p/:projectId/*?">
          {({ projectId }) => <ProjectPages key={projectId} projectId={projectId} />}
        </Route>
        <Route>
          <FirstProject />
        </Route>
      </Switch>
    </MeProvider>
  );
}

function ProjectPages({ projectId }: { readonly projectId: string }) {
  const projects = useProjects();
  const [location] = useLocation();
  const search = useSearch();
  if (projects.isError) return <CenteredFailure of={projects} />;
  if (projects.data === undefined) return <Skeleton className="m-8 h-40" />;
  const project = projects.data.find(({ id }) => id === projectId);
  if (project === undefined)
    return (
      <EmptyState title="Project not found" action={<InlineLink href="/">Open another project</InlineLink>}>
        It may belong to another organization.
      </EmptyState>
    );
  return (
    <ProjectProvider project={project}>
      <Shell>
        <PageBoundary at={`${location}?${search}`} head={<PageHeader title="Not available" />}>
          <Suspense fallback={<Skeleton className="m-6 h-96" />}>
            <Switch>
              <Route path="/p/:projectId/boards" component={BoardsPage} />
              <Route path="/p/:projectId/boards/:boardId">
                {({ boardId }) => <BoardPage key={boardId} boardId={boardId} />}
              </Route>
              <Route path="/p/:projectId/start">
                <StartPage />
              </Route>
              <Route path="/p/:projectId/usage/*?">
                <UsagePages />
              </Route>
              <Route path="/p/:projectId/rules/*?">
                <RulesPages />
              </Route>
              <Route path="/p/:projectId/limits/*?" component={LimitsPages} />
              <Route path="/p/:projectId/webhooks/*?">
                <WebhooksPages />
              </Route>
              <Route path="/p/:projectId/settings/*?" component={SettingsPages} />
              <Route path="/p/:projectId/billing" component={AccountsPage} />
              <Route path="/p/:projectId/billing/:accountId">
                {({ accountId }) => <AccountPage key={accountId} accountId={accountId} />}
              </Route>
              <Route path="/p/:projectId">
                <Redirect to={`/p/${projectId}/boards`} replace />
              </Route>
              <Route component={NotFoundPage} />
            </Switch>
          </Suspense>
        </PageBoundary>
      </Shell>
    </ProjectProvider>
  );
}

/** Redirects to the first project or, after a payment, to the project from which the payment page was opened. */
function FirstProject() {
  const projects = useProjects();
  if (projects.isError) return <CenteredFailure of={projects} />;
  if (projects.data === undefined) return null;
  const [first] = projects.data;
  if (first === undefined) {
    return (
      <Suspense fallback={null}>
        <FirstProjectPage />
      </Suspense>
    );
  }
  const outcome = new URLSearchParams(window.location.search).get('checkout');
  if (outcome !== null) {
    const buyer = projects.data.find(({ id }) => id === projectOfPurchase()) ?? first;
    return <Redirect to={`/p/${buyer.id}/settings/plan?checkout=${encodeURIComponent(outcome)}`} replace />;
  }
  return <Redirect to={`/p/${first.id}/boards`} replace />;
}

function CenteredFailure(props: { readonly of: FailedRead }) {
  return (
    <div className="mx-auto mt-24 max-w-md px-4">
      <ReadFailure {...props} />
    </div>
  );
}
