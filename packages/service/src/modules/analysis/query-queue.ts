import { DomainError } from '../../kernel/errors.js';
import { FairTurns } from './fair-turns.js';

/** Upper bound of running queries: what they take of the machine is missing for accepting events. */
const RUNNING_MAX = 2;
/** Upper bounds of the queries of one project, and of all projects, that run or wait. */
const WAITING_OF_PROJECT_MAX = 300;
const WAITING_MAX = 1_000;

/**
 * Runs few analysis queries at once, projects in turns, and bounds how many wait: twenty boards that refresh at once
 * wait for each other, and delay no other project. A query that equals a waiting one gets the result of that one, which
 * is as recent as its own would be; the result of a running query is not shared.
 */
export class QueryQueue {
  readonly #turns = new FairTurns(RUNNING_MAX);
  readonly #waiting = new Map<string, number>();
  /** Queries that have not started yet. */
  readonly #shared = new Map<string, Promise<unknown>>();
  #total = 0;

  /**
   * Runs `work` when it is its turn; returns or throws as `work` does. Equal questions of one project must mean equal
   * work.
   * @throws DomainError `analysis_busy` when too many wait already
   */
  async run<T>(projectId: string, question: unknown, work: () => Promise<T>): Promise<T> {
    const ofProject = this.#waiting.get(projectId) ?? 0;
    if (this.#total >= WAITING_MAX || ofProject >= WAITING_OF_PROJECT_MAX) {
      throw new DomainError('analysis_busy');
    }
    this.#add(projectId, 1);
    try {
      return await this.#share(projectId, JSON.stringify([projectId, question]), work);
    } finally {
      this.#add(projectId, -1);
    }
  }

  #share<T>(projectId: string, key: string, work: () => Promise<T>): Promise<T> {
    const waiting = this.#shared.get(key) as Promise<T> | undefined;
    if (waiting !== undefined) return waiting;
    let hasBegun = false;
    const answer = this.#turns.run(projectId, async () => {
      hasBegun = true;
      this.#shared.delete(key);
      return work();
    });
    if (!hasBegun) this.#shared.set(key, answer);
    return answer;
  }

  #add(projectId: string, count: number): void {
    this.#total += count;
    const ofProject = (this.#waiting.get(projectId) ?? 0) + count;
    if (ofProject === 0) this.#waiting.delete(projectId);
    else this.#waiting.set(projectId, ofProject);
  }
}
