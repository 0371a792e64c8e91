import { Route, Switch } from 'wouter';
import { RuleSetPage } from './rule-set-page.js';
import { RulesPage } from './rules-page.js';
import { NewRuleSetPage } from './templates/new-rule-set-page.js';

export function RulesPages() {
  return (
    <Switch>
      <Route path="/p/:projectId/rules/extractor/:id/*?">
        {({ id }) => <RuleSetPage key={id} kind="extractor" id={id} />}
      </Route>
      <Route path="/p/:projectId/rules/pricing/:id/*?">
        {({ id }) => <RuleSetPage key={id} kind="pricing" id={id} />}
      </Route>
      <Route path="/p/:projectId/rules/new" component={NewRuleSetPage} />
      <Route>
        <RulesPage />
      </Route>
    </Switch>
  );
}
