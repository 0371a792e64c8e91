import type { Socket } from 'node:net';
import type { MaybePromise } from '../../../kernel/maybe-promise.js';
import type { Tracing } from '../../tracing/index.js';
import type { BodyBudget } from '../body-budget.js';
import type { FailureLog } from '../failure-log.js';
import type { PlainHead } from './request-head.js';
import type { SpacedWork } from './spaced-work.js';
import type { Admission } from './work.js';

/** A connection of the lane. */
export interface OpenConnection {
  /** Accepts no more requests: closes the connection when it is idle, or after the current response. */
  close(): void;
  /** Closes the connection at once, also with a request in progress. */
  cut(): void;
}

/** The parts of the lane that its connections share. */
export interface LanePorts {
  readonly budget: BodyBudget;
  readonly failures: FailureLog;
  readonly requestId: (incoming: string | undefined) => string;
  /** Undefined if no traces are recorded. */
  readonly tracing: Tracing | undefined;
  /**
   * Returns the route and project of a request that the lane may serve; undefined or a rejection for those that Node
   * and Fastify serve.
   */
  readonly admit: (head: PlainHead) => MaybePromise<Admission | undefined>;
  /** Takes a connection that the lane does not serve, or no longer; its bytes without a response are read again. */
  readonly handOver: (socket: Socket) => void;
  /** Whether the lane has stopped taking requests. */
  readonly isClosed: () => boolean;
  /** Whether the connection ends after its next response; so it does when the lane is closed. */
  readonly isDraining: () => boolean;
  /**
   * A request that is not complete after this time goes to Node, which has deadlines and error responses of its own.
   */
  readonly patienceMs: number;
  /** How long a connection may be idle between two requests. */
  readonly keepAliveMs: number;
  /** Spaces out the work on large bodies. */
  readonly largeBodies: SpacedWork;
  /** Called when a request has arrived: its client waits for the service. */
  readonly begun: (socket: Socket) => void;
  /** Called when the connection waits for its client again, or belongs to Node now. */
  readonly answered: (socket: Socket) => void;
  /** Called when the connection has ended, or belongs to Node now. */
  readonly left: (connection: OpenConnection) => void;
}
