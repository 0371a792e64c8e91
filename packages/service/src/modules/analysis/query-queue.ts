import { DomainError } from '../../kernel/errors.js';
import { KeyCounts } from '../../kernel/key-counts.js';
import type { ProjectScope } from '../../kernel/scope.js';
import { tenantShare } from '../../kernel/tenant-share.js';
import { FairTurns } from './fair-turns.js';

/** Upper bound of running queries: what they take of the machine is missing for accepting events. */
const RUNNING_MAX = 2;
/** Upper bounds of the queries of one project, and of all tenants, that run or wait. */
const WAITING_OF_PROJECT_MAX = 300;
const WAITING_MAX = 1_000;

/**
 * Runs few analysis queries at once, tenants and projects in turns, and bounds how many of each wait: twenty boards
 * that refresh at once wait for each other, and delay no other project. A query that equals a waiting one gets the
 * result of that one, which is as recent as its own would be; the result of a running query is not shared.
 */
export class QueryQueue {
  readonly #turns = new FairTurns(RUNNING_MAX);
  /** Number of queries that run or wait, by the id of their project and by that of their tenant. */
  readonly #waiting = new KeyCounts();
  /** Queries that have not started yet. */
  readonly #shared = new Map<string, Promise<unknown>>();
  #total = 0;

  /**
   * Runs `work` when it is its turn; returns or throws as `work` does. Equal questions of one project must mean equal
   * work.
   * @throws DomainError `analysis_busy` when too many wait already
   */
  async run<T>(project: ProjectScope, question: unknown, work: () => Promise<T>): Promise<T> {
    // A tenant can have any number of projects: all of them together must leave room for other tenants.
    const isFull =
      this.#total >= WAITING_MAX ||
      this.#waiting.of(project.projectId) >= WAITING_OF_PROJECT_MAX ||
      this.#waiting.of(project.tenantId) >= tenantShare(this.#total, WAITING_MAX);
    if (isFull) throw new DomainError('analysis_busy');
    this.#add(project, 1);
    try {
      return await this.#share(project, JSON.stringify([project.projectId, question]), work);
    } finally {
      this.#add(project, -1);
    }
  }

  #share<T>(project: ProjectScope, key: string, work: () => Promise<T>): Promise<T> {
    const waiting = this.#shared.get(key) as Promise<T> | undefined;
    if (waiting !== undefined) return waiting;
    let hasBegun = false;
    const answer = this.#turns.run(project, async () => {
      hasBegun = true;
      this.#shared.delete(key);
      return work();
    });
    if (!hasBegun) this.#shared.set(key, answer);
    return answer;
  }

  #add({ tenantId, projectId }: ProjectScope, count: number): void {
    this.#total += count;
    for (const id of [tenantId, projectId]) this.#waiting.add(id, count);
  }
}
