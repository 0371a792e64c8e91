import type { Backtest, BacktestPage, BacktestRequest, RulesTestRequest, RulesTestResult } from '#contract';
import type { ProjectTransport } from '../project-transport.js';
import { type PageOptions, path } from '../transport.js';

/** Rules on events, before they are published. */
export class RuleTrials {
  readonly #transport: ProjectTransport;

  constructor(transport: ProjectTransport) {
    this.#transport = transport;
  }

  /** Rates one event with the named rules. Stores nothing. */
  test(test: RulesTestRequest): Promise<RulesTestResult> {
    return this.#transport.post('/rules/test', test);
  }

  /** Rates stored events by the named rules and compares. It may still be running: then ask for it by its id. */
  startBacktest(request: BacktestRequest): Promise<Backtest> {
    return this.#transport.post('/rules/backtest', request);
  }

  /** Newest first, without what was asked and found. */
  backtests(page: PageOptions = {}): Promise<BacktestPage> {
    return this.#transport.get('/rules/backtests', page);
  }

  /** Its progress while it runs, then its result. */
  backtest(backtestId: string): Promise<Backtest> {
    return this.#transport.get(path`/rules/backtests/${backtestId}`);
  }

  /** Ends a running backtest; one that has ended stays as it is. */
  cancelBacktest(backtestId: string): Promise<Backtest> {
    return this.#transport.delete(path`/rules/backtests/${backtestId}`);
  }
}
