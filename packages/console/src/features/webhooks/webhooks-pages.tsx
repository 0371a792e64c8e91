import { Route, Switch } from 'wouter';
import { NotFoundPage } from '../../shell/not-found-page.js';
import { EndpointPage } from './endpoint-page.js';
import { EndpointsPage } from './endpoints-page.js';

export function WebhooksPages() {
  return (
    <Switch>
      <Route path="/p/:projectId/webhooks" component={EndpointsPage} />
      <Route path="/p/:projectId/webhooks/:endpointId">
        {({ endpointId }) => <EndpointPage key={endpointId} endpointId={endpointId} />}
      </Route>
      <Route component={NotFoundPage} />
    </Switch>
  );
}
