import { expect } from 'vitest';
import { createTestLimits, makeRoute, type TestLimits } from '../check/realtime.testing.js';

/** An application with helpers for tests of leases. Subjects are of type `user`. */
export class LeaseCalls {
  #subjects = 0;

  private constructor(readonly api: TestLimits) {}

  static async start(): Promise<LeaseCalls> {
    return new LeaseCalls(await createTestLimits());
  }

  /** Creates a subject with a route of its own. */
  async makeSubject() {
    this.#subjects += 1;
    const subjectId = `s${this.#subjects}`;
    return { subjectId, route: await makeRoute(this.api, { id: `ra_${subjectId}`, subjectId }) };
  }

  ask(subjectId: string, asked: object) {
    const body = { subject_type: 'user', subject_id: subjectId, currency: 'USD', ttl_seconds: 60, ...asked };
    return this.api.call('POST', `${this.api.url}/budget-leases`, body);
  }

  /** Creates a lease, which must be granted. */
  async grant(subjectId: string, asked: object) {
    const answer = await this.ask(subjectId, asked);
    expect([answer.status, answer.text]).toEqual([201, answer.text]);
    return answer.json();
  }

  get(id: string) {
    return this.api.call('GET', `${this.api.url}/budget-leases/${id}`);
  }

  close(id: string) {
    return this.api.call('POST', `${this.api.url}/budget-leases/${id}/close`);
  }

  renew(id: string, ttlSeconds: number) {
    return this.api.call('POST', `${this.api.url}/budget-leases/${id}/renew`, { ttl_seconds: ttlSeconds });
  }

  async limitsOf(subjectId: string) {
    const query = `subject_type=user&subject_id=${subjectId}`;
    return (await this.api.call('GET', `${this.api.url}/subject/realtime/limits?${query}`)).json().limits;
  }

  /** Returns the id and the reserved amount of each limit. */
  async reservedOf(subjectId: string): Promise<[string, string][]> {
    const limits: { id: string; reserved_amount: string }[] = await this.limitsOf(subjectId);
    return limits.map(({ id, reserved_amount: reserved }) => [id, reserved]);
  }
}
