import type { Backtest, BacktestPage, BacktestRequest, RulesTestRequest, RulesTestResult } from '#contract';
import type { CallOptions, PathTransport } from '../path-transport.js';
import { type PageOptions, path } from '../transport.js';

/** Tests of rules on events, before they are published. */
export class RuleTrials {
  readonly #transport: PathTransport;

  constructor(transport: PathTransport) {
    this.#transport = transport;
  }

  /** Rates one event with the named rules. Stores nothing. */
  test(test: RulesTestRequest, options?: CallOptions): Promise<RulesTestResult> {
    return this.#transport.post('/rules/test', test, options);
  }

  /** As `test`, with a body that is JSON text already; its numbers keep every digit. */
  testText(body: string, options?: CallOptions): Promise<RulesTestResult> {
    return this.#transport.postText('/rules/test', body, options);
  }

  /**
   * Rates stored events by the named rules and compares the results. The backtest may still be running when this
   * returns: then poll it by its id.
   */
  startBacktest(request: BacktestRequest, options?: CallOptions): Promise<Backtest> {
    return this.#transport.post('/rules/backtest', request, options);
  }

  /** Returns backtests, newest first, without their requests and results. */
  backtests(page: PageOptions = {}, options?: CallOptions): Promise<BacktestPage> {
    return this.#transport.get('/rules/backtests', page, options);
  }

  /** Returns the progress of a backtest while it runs, then its result. */
  backtest(backtestId: string, options?: CallOptions): Promise<Backtest> {
    return this.#transport.get(path`/rules/backtests/${backtestId}`, {}, options);
  }

  /** Ends a running backtest; one that has ended stays as it is. */
  cancelBacktest(backtestId: string, options?: CallOptions): Promise<Backtest> {
    return this.#transport.delete(path`/rules/backtests/${backtestId}`, options);
  }
}
