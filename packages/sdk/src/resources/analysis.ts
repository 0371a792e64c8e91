import type { AnalysisQuery, AnalysisResult, MetricsResponse } from '#contract';
import type { ProjectTransport } from '../project-transport.js';

/** Exact sums of charge items. */
export class Analysis {
  readonly #transport: ProjectTransport;

  constructor(transport: ProjectTransport) {
    this.#transport = transport;
  }

  query(query: AnalysisQuery): Promise<AnalysisResult> {
    return this.#transport.post('/analysis/query', query);
  }

  /** The metrics that have been used, with their dimensions. */
  metrics(): Promise<MetricsResponse> {
    return this.#transport.get('/usage/metrics');
  }
}
