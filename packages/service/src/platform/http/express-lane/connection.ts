import type { Socket } from 'node:net';
import type { MaybePromise } from '../../../kernel/maybe-promise.js';
import type { BodyBudget } from '../body-budget.js';
import type { FailureLog } from '../failure-log.js';
import { answerTo, answerUnparsable, type ErrorAnswer, JSON_TYPE, NO_SNIFFING } from '../failures.js';
import { answerText } from './answer.js';
import { type PlainHead, PlainHeadReader } from './request-head.js';
import { type Admission, type LaneRoute, workOf } from './work.js';

export interface LanePorts {
  readonly budget: BodyBudget;
  readonly failures: FailureLog;
  readonly requestId: (incoming: string | undefined) => string;
  /** Whom the lane would serve; undefined or a rejection for what is Node's and Fastify's. */
  readonly admit: (head: PlainHead) => MaybePromise<Admission | undefined>;
  /** Node's own handler of a new connection. */
  readonly handOver: (socket: Socket) => void;
  /** No more requests are let in. */
  readonly isClosed: () => boolean;
  /** What is not whole after so long is left to Node, which has deadlines and answers of its own. */
  readonly patienceMs: number;
  /** How long a connection may be idle between two requests. */
  readonly keepAliveMs: number;
  /** The connection ended, or is Node's now. */
  readonly left: (connection: LaneConnection) => void;
}

/** As Node does: a request that is sent at the last moment still finds the connection open. */
const KEEP_ALIVE_GRACE_MS = 1_000;

interface Request extends Admission {
  readonly head: PlainHead;
}

/**
 * A connection as long as it carries nothing but plain requests, one after the other. With the first that is
 * not, that does not come whole in time, or that is sent before the one ahead of it is answered, the
 * connection is Node's for good: it gets the bytes back, as if nobody had looked at them. Only from the call
 * of its operation on a request is answered here, because what was done must not be done twice.
 */
export class LaneConnection {
  private readonly heads = new PlainHeadReader();
  private pieces: Buffer[] = [];
  private receivedBytes = 0;
  private startedAtMs = 0;
  /** Whose body is awaited. */
  private request: Request | undefined;
  /** Of the request that is being answered; with those received, what is counted in the budget. */
  private answeredBytes = 0;
  /** Something is awaited other than the client. */
  private isBusy = false;
  private isEnded = false;
  private isPatient = false;

  constructor(
    private readonly socket: Socket,
    private readonly ports: LanePorts,
  ) {
    socket.on('data', this.onData).on('end', this.onEnd).on('close', this.onClose);
    socket.on('error', ignore).on('timeout', this.onTimeout).setTimeout(ports.patienceMs);
  }

  /** No more requests come in here: ends the connection when it is idle, and after the answer that is under way. */
  close(): void {
    if (this.isBusy) return;
    if (this.receivedBytes === 0) this.socket.destroy();
    else this.leave();
  }

  /** Whatever is under way. */
  cut(): void {
    this.socket.destroy();
  }

  private readonly onData = (piece: Buffer): void => {
    if (this.receivedBytes === 0 && !this.isBusy) this.startedAtMs = performance.now();
    this.pieces.push(piece);
    this.receivedBytes += piece.length;
    const hasRoom = this.ports.budget.add(piece.length);
    // Sent ahead: it waits for the answer, and no more is read until then.
    if (this.isBusy) this.socket.pause();
    else this.advance(hasRoom);
  };

  private readonly onEnd = (): void => {
    this.isEnded = true;
    if (!this.isBusy) this.end();
  };

  private readonly onClose = (): void => {
    this.ports.budget.release(this.receivedBytes + this.answeredBytes);
    this.pieces = [];
    this.receivedBytes = 0;
    this.answeredBytes = 0;
    this.ports.left(this);
  };

  private readonly onTimeout = (): void => {
    if (this.isBusy) return;
    if (this.receivedBytes === 0 && this.isPatient) this.socket.destroy();
    else this.leave();
  };

  /** Goes on with what has arrived. */
  private advance(hasRoom: boolean): void {
    const isLate = performance.now() - this.startedAtMs > this.ports.patienceMs;
    if (!hasRoom || isLate || this.ports.isClosed()) this.leave();
    else if (this.request !== undefined) this.advanceBody(this.request);
    else this.advanceHead();
  }

  private advanceHead(): void {
    const head = this.heads.read(this.joined());
    if (head === 'incomplete') {
      this.awaitMore();
      return;
    }
    const admission = head && this.admission(head);
    if (head === undefined || admission === undefined) this.leave();
    else if (admission instanceof Promise) this.orCut(this.awaitAdmission(head, admission));
    else this.begin(head, admission);
  }

  /** Whatever fails here, the access hook asks again and says so. */
  private admission(head: PlainHead): ReturnType<LanePorts['admit']> {
    try {
      return this.ports.admit(head);
    } catch {
      return undefined;
    }
  }

  /** Whatever else arrives waits in the socket meanwhile. */
  private async awaitAdmission(head: PlainHead, awaited: Promise<Admission | undefined>): Promise<void> {
    this.isBusy = true;
    this.socket.pause();
    const admission = await awaited.catch(() => undefined);
    this.isBusy = false;
    if (this.socket.destroyed) return;
    this.socket.resume();
    if (admission === undefined || this.ports.isClosed()) this.leave();
    else this.begin(head, admission);
  }

  private begin(head: PlainHead, { route, project, params }: Admission): void {
    this.request = { route, project, params, head };
    this.advanceBody(this.request);
  }

  private advanceBody(request: Request): void {
    const { head, route } = request;
    const missing = head.headBytes + head.bodyBytes - this.receivedBytes;
    if (missing > 0) {
      this.awaitMore();
      return;
    }
    const work = missing === 0 ? workOf(request, () => this.joined().subarray(head.headBytes)) : undefined;
    if (work === undefined) {
      this.leave();
      return;
    }
    this.bePatient();
    // The pieces are let go, because the body would be held twice until it is answered.
    this.pieces = [];
    this.answeredBytes = this.receivedBytes;
    this.receivedBytes = 0;
    this.request = undefined;
    this.isBusy = true;
    this.orCut(this.answer(route, work, head.requestId));
  }

  private async answer(
    route: LaneRoute,
    work: () => Promise<string>,
    incomingId: string | undefined,
  ): Promise<void> {
    const requestId = this.ports.requestId(incomingId);
    let answer: ErrorAnswer;
    try {
      const body = await work();
      answer = {
        status: 202,
        headers: [['x-request-id', requestId], NO_SNIFFING, ['content-type', JSON_TYPE]],
        body,
      };
    } catch (error) {
      const failed = { id: requestId, method: 'POST', routeOptions: route, raw: { readableAborted: false } };
      answer = answerTo(error, failed, this.ports.failures);
    }
    this.ports.budget.release(this.answeredBytes);
    this.answeredBytes = 0;
    this.isBusy = false;
    if (this.socket.destroyed) return;
    this.send(answer);
    route.observe(requestId, answer.status, performance.now() - this.startedAtMs);
  }

  private send(answer: ErrorAnswer): void {
    const { socket, ports } = this;
    const isLast = ports.isClosed();
    const { text, encoding } = answerText(answer, isLast ? undefined : ports.keepAliveMs);
    socket.write(text, encoding);
    if (isLast) socket.destroySoon();
    // Who sends ahead, or does not take the answers, is Node's.
    else if (this.isEnded || this.receivedBytes > 0 || socket.writableNeedDrain) this.leave();
  }

  /** A defect of ours must not leave a connection that nobody looks after. */
  private orCut(work: Promise<void>): void {
    work.catch(() => this.socket.destroy());
  }

  /** Within a request, Node's deadlines are to begin soon. */
  private awaitMore(): void {
    if (this.isEnded) {
      this.end();
      return;
    }
    this.isPatient = false;
    this.socket.setTimeout(this.ports.patienceMs);
  }

  /** Between requests a client may take its time. */
  private bePatient(): void {
    if (this.isPatient) return;
    this.isPatient = true;
    this.socket.setTimeout(this.ports.keepAliveMs + KEEP_ALIVE_GRACE_MS);
  }

  /** Gives the connection to Node, with all that was not answered. */
  private leave(): void {
    const { socket, ports } = this;
    // Nothing can be put back into a stream that has ended. Node leaves a client without an answer that ends
    // before it is let in.
    if (this.isEnded) {
      socket.end();
      return;
    }
    const bytes = this.joined();
    ports.budget.release(this.receivedBytes);
    socket.off('data', this.onData).off('end', this.onEnd).off('close', this.onClose);
    socket.off('error', ignore).off('timeout', this.onTimeout).setTimeout(0);
    ports.left(this);
    socket.pause();
    if (bytes.length > 0) socket.unshift(bytes);
    ports.handOver(socket);
    socket.resume();
  }

  /** The client has said its last, and it is not a whole request. */
  private end(): void {
    if (this.receivedBytes > 0) answerUnparsable(new Error('half a request'), this.socket);
    else this.socket.end();
  }

  private joined(): Buffer {
    if (this.pieces.length !== 1) this.pieces = [Buffer.concat(this.pieces, this.receivedBytes)];
    return this.pieces[0] as Buffer;
  }
}

/** What follows an error is `close`. */
function ignore(): void {}
