import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Permission } from '@tollgate/contract';
import { readJson, skimBody } from './body.js';
import type { BodyBudget } from './body-budget.js';
import type { ExpressOperation, ExpressRequest } from './express-route.js';
import type { FailureLog } from './failure-log.js';
import { answerTo, type ErrorAnswer, JSON_TYPE } from './failures.js';
import type { ObserveRequest } from './requests.js';
import type { ProjectRef } from './types.js';

/** A route as the lane serves it. */
export interface LaneRoute {
  readonly url: string;
  /** Matches its paths; one group per name. */
  readonly path: RegExp;
  readonly names: readonly string[];
  readonly permission: Permission | readonly Permission[];
  readonly bodyLimit: number;
  readonly arbitraryText: boolean;
  readonly unread: string | undefined;
  readonly isValid: (body: unknown) => boolean;
  readonly operation: ExpressOperation;
  readonly observe: ObserveRequest;
}

export interface PassagePorts {
  readonly budget: BodyBudget;
  readonly failures: FailureLog;
  readonly requestId: (request: IncomingMessage) => string;
  /** Fastify's own listener. */
  readonly handBack: RequestListener;
}

/** What the head of a request has told. */
export interface Arrival {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** As announced: Node's parser delivers exactly so many, or the request is aborted. */
  readonly bodyBytes: number;
  readonly project: ProjectRef;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * One request on the express lane. Until its operation is called it can be handed back to Fastify as if it had never
 * been here, its bytes unread; from then on it is answered here, because what was done must not be done twice.
 */
export class Passage {
  private readonly startedAtMs = performance.now();
  private pieces: Buffer[] = [];
  private receivedBytes = 0;
  private requestId = '';

  constructor(
    private readonly ports: PassagePorts,
    private readonly route: LaneRoute,
    private readonly arrival: Arrival,
  ) {}

  begin(): void {
    this.arrival.request.on('data', this.onData);
    this.arrival.response.on('close', this.onClose);
  }

  private readonly onData = (piece: Buffer): void => {
    this.pieces.push(piece);
    this.receivedBytes += piece.length;
    if (!this.ports.budget.add(piece.length)) this.handBack(this.takeBytes());
    else if (this.receivedBytes === this.arrival.bodyBytes) this.proceed();
  };

  /** The answer has gone out, or the client has gone away. */
  private readonly onClose = (): void => {
    const { response } = this.arrival;
    this.ports.budget.release(this.receivedBytes);
    if (!response.writableFinished) return;
    this.route.observe(this.requestId, response.statusCode, performance.now() - this.startedAtMs);
  };

  private proceed(): void {
    const { project, params } = this.arrival;
    const { unread, arbitraryText } = this.route;
    const rawBody = this.takeBytes();
    let body: unknown;
    try {
      body = unread === undefined ? readJson(rawBody, arbitraryText) : skimBody(rawBody, unread);
    } catch {
      this.handBack(rawBody);
      return;
    }
    if (this.route.isValid(body)) void this.answer({ project, params, body, rawBody });
    else this.handBack(rawBody);
  }

  private async answer(accepted: ExpressRequest): Promise<void> {
    const { request } = this.arrival;
    this.requestId = this.ports.requestId(request);
    let answer: ErrorAnswer;
    try {
      const body = await this.route.operation.answer(accepted);
      answer = {
        status: 202,
        headers: [
          ['x-request-id', this.requestId],
          ['content-type', JSON_TYPE],
        ],
        body,
      };
    } catch (error) {
      const failed = { id: this.requestId, method: 'POST', routeOptions: this.route, raw: request };
      answer = answerTo(error, failed, this.ports.failures);
    }
    this.send(answer);
  }

  private send({ status, headers, body }: ErrorAnswer): void {
    const bytes = Buffer.byteLength(body);
    const { response } = this.arrival;
    response.writeHead(status, [...headers, ['content-length', String(bytes)]] as string[][]);
    // What is ASCII needs no encoder.
    response.end(body, bytes === body.length ? 'latin1' : 'utf8');
  }

  /** Puts back what was read, and lets Fastify begin at the beginning. */
  private handBack(bytes: Buffer): void {
    const { request, response } = this.arrival;
    request.off('data', this.onData);
    response.off('close', this.onClose);
    this.ports.budget.release(this.receivedBytes);
    request.pause();
    request.unshift(bytes);
    // Of a request that nobody has read, Node discards the body once it is answered; of this one it believes that it was read.
    response.once('finish', () => request.resume());
    this.ports.handBack(request, response);
  }

  /** What has arrived. The pieces are let go, because the body would be held twice until it is answered. */
  private takeBytes(): Buffer {
    const { pieces } = this;
    this.pieces = [];
    const [first] = pieces;
    return first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces, this.receivedBytes);
  }
}
