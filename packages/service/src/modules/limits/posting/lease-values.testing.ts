import { NOW_S } from './usage.testing.js';

/** A lease of a subject of type `user`. */
export interface TestLease {
  readonly subjectId: string;
  readonly amount: string;
  readonly currency: string;
  readonly metric: string | null;
  readonly ruleNos: readonly number[];
  readonly holdsWallet: boolean;
  readonly status: 'active' | 'closed' | 'expired';
  readonly expiresAt: number;
}

/** The default values of a lease in tests. */
export const LEASE: TestLease = {
  subjectId: 'u1',
  amount: '10',
  currency: 'USD',
  metric: null,
  ruleNos: [],
  holdsWallet: false,
  status: 'active',
  expiresAt: NOW_S + 60,
};
