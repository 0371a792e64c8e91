import type { Socket } from 'node:net';
import { endConnection } from '../connection-end.js';
import { answerTo, answerUnparsable, type ErrorAnswer, JSON_TYPE, NO_SNIFFING } from '../failures.js';
import { answerText } from './answer.js';
import type { LanePorts, OpenConnection } from './lane-ports.js';
import { type PlainHead, PlainHeadReader } from './request-head.js';
import { doAtOnce } from './spaced-work.js';
import { type Admission, type LaneRoute, type LaneWork, workOf } from './work.js';

/** As long as Node waits in addition: a request that is sent at the last moment still finds the connection open. */
const KEEP_ALIVE_GRACE_MS = 1_000;

/** Reading a body of this size takes as long as serving several small requests. */
const LARGE_BODY_BYTES_MIN = 16 * 1_024;

interface Request extends Admission {
  readonly head: PlainHead;
}

/**
 * A connection that carries plain requests only, one after the other. Node gets the connection for ever with the first
 * request that is not plain, that does not arrive completely in time, or that is sent before the response to the
 * previous one. Node gets all bytes of that request, as if nobody had read them. Once the operation of a request is
 * called, its response is sent from here, because the operation must not run twice.
 */
export class LaneConnection implements OpenConnection {
  readonly #socket: Socket;
  readonly #ports: LanePorts;
  readonly #heads = new PlainHeadReader();
  #pieces: Buffer[] = [];
  #receivedBytes = 0;
  #startedAtMs = 0;
  /** The request whose body has not arrived yet. */
  #request: Request | undefined;
  /** Bytes of the current request; together with received ones they count in the body budget. */
  #answeredBytes = 0;
  /** The tenant of the last admitted request, for which all bytes of the connection count. */
  #tenantId: string | undefined;
  /** Whether the lane waits for something other than the client. */
  #isBusy = false;
  #isEnded = false;
  #isPatient = false;

  constructor(socket: Socket, ports: LanePorts) {
    this.#socket = socket;
    this.#ports = ports;
    socket.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onClose);
    socket.on('error', ignore).on('timeout', this.#onTimeout).setTimeout(ports.patienceMs);
  }

  close(): void {
    if (this.#isBusy) return;
    if (this.#receivedBytes === 0) this.#finish();
    else this.#leave();
  }

  cut(): void {
    this.#socket.destroy();
  }

  readonly #onData = (piece: Buffer): void => {
    if (this.#receivedBytes === 0 && !this.#isBusy) this.#startedAtMs = performance.now();
    this.#pieces.push(piece);
    this.#receivedBytes += piece.length;
    const hasRoom = this.#ports.budget.add(piece.length, this.#tenantId);
    // The client sent ahead: these bytes wait for the response, and no more are read until then.
    if (this.#isBusy) this.#socket.pause();
    else this.#advance(hasRoom);
  };

  readonly #onEnd = (): void => {
    this.#isEnded = true;
    if (!this.#isBusy) this.#end();
  };

  readonly #onClose = (): void => {
    this.#ports.budget.release(this.#receivedBytes + this.#answeredBytes, this.#tenantId);
    this.#pieces = [];
    this.#receivedBytes = 0;
    this.#answeredBytes = 0;
    this.#ports.left(this);
  };

  readonly #onTimeout = (): void => {
    if (this.#isBusy) return;
    if (this.#receivedBytes === 0 && this.#isPatient) this.#socket.destroy();
    else this.#leave();
  };

  /** Continues with the bytes that have arrived. */
  #advance(hasRoom: boolean): void {
    const isLate = performance.now() - this.#startedAtMs > this.#ports.patienceMs;
    if (!hasRoom || isLate || this.#ports.isClosed()) this.#leave();
    else if (this.#request !== undefined) this.#advanceBody(this.#request);
    else this.#advanceHead();
  }

  #advanceHead(): void {
    const head = this.#heads.read(this.#joined());
    if (head === 'incomplete') {
      this.#awaitMore();
      return;
    }
    const admission = head && this.#admission(head);
    if (head === undefined || admission === undefined) this.#leave();
    else if (admission instanceof Promise) this.#orCut(this.#awaitAdmission(head, admission));
    else this.#begin(head, admission);
  }

  /** An error here is dropped: the access hook of Fastify repeats the check and reports it. */
  #admission(head: PlainHead): ReturnType<LanePorts['admit']> {
    try {
      return this.#ports.admit(head);
    } catch {
      return undefined;
    }
  }

  /** Waits for the admission; further bytes wait in the socket. */
  async #awaitAdmission(head: PlainHead, awaited: Promise<Admission | undefined>): Promise<void> {
    this.#isBusy = true;
    this.#socket.pause();
    const admission = await awaited.catch(() => undefined);
    this.#isBusy = false;
    if (this.#socket.destroyed) return;
    this.#socket.resume();
    if (admission === undefined || this.#ports.isClosed()) this.#leave();
    else this.#begin(head, admission);
  }

  #begin(head: PlainHead, { route, project, params }: Admission): void {
    this.#request = { route, project, params, head };
    if (this.#countFor(project.tenantId)) this.#advanceBody(this.#request);
    else this.#leave();
  }

  /** Counts what has arrived for a tenant; returns whether there was room for it. */
  #countFor(tenantId: string): boolean {
    if (tenantId === this.#tenantId) return true;
    const { budget } = this.#ports;
    budget.release(this.#receivedBytes, this.#tenantId);
    this.#tenantId = tenantId;
    return budget.add(this.#receivedBytes, tenantId);
  }

  #advanceBody(request: Request): void {
    const { head } = request;
    const missing = head.headBytes + head.bodyBytes - this.#receivedBytes;
    if (missing > 0) {
      this.#awaitMore();
      return;
    }
    this.#ports.begun(this.#socket);
    if (head.bodyBytes < LARGE_BODY_BYTES_MIN) doAtOnce(this.#serve(request));
    else this.#waitForTurn(request);
  }

  /** Lets other connections go first and in between: a small request must not wait for large ones. */
  #waitForTurn(request: Request): void {
    this.#isBusy = true;
    this.#ports.largeBodies.add(this.#serve(request));
  }

  /** Serves a request that has arrived, in steps; one with more bytes behind it goes to Node. */
  *#serve(request: Request): Generator<void, void> {
    const { head, route } = request;
    // More bytes may arrive between two steps.
    const isAlone = () => head.headBytes + head.bodyBytes === this.#receivedBytes;
    const work = isAlone()
      ? yield* workOf(request, () => this.#joined().subarray(head.headBytes))
      : undefined;
    this.#isBusy = false;
    if (this.#socket.destroyed) return;
    if (work === undefined || !isAlone()) {
      this.#leave();
      return;
    }
    this.#bePatient();
    // Releases the pieces: otherwise the body would be in memory twice until the response.
    this.#pieces = [];
    this.#answeredBytes = this.#receivedBytes;
    this.#receivedBytes = 0;
    this.#request = undefined;
    this.#isBusy = true;
    this.#orCut(this.#answer(route, work, head));
  }

  async #answer(route: LaneRoute, work: LaneWork, head: PlainHead): Promise<void> {
    const requestId = this.#ports.requestId(head.requestId);
    const span = this.#ports.tracing?.beginRequest({
      method: route.method,
      route: route.url,
      requestId,
      fields: head,
    });
    let answer: ErrorAnswer;
    try {
      const body = await work(span);
      answer = {
        status: route.operation.status,
        headers: [['x-request-id', requestId], NO_SNIFFING, ['content-type', JSON_TYPE]],
        body,
      };
    } catch (error) {
      const failed = {
        id: requestId,
        method: route.method,
        routeOptions: route,
        raw: { readableAborted: false },
      };
      answer = answerTo(error, failed, this.#ports.failures);
    }
    span?.end(answer.status);
    this.#ports.budget.release(this.#answeredBytes, this.#tenantId);
    this.#answeredBytes = 0;
    this.#isBusy = false;
    if (this.#socket.destroyed) return;
    this.#send(answer);
    route.observe(requestId, answer.status, performance.now() - this.#startedAtMs);
  }

  #send(answer: ErrorAnswer): void {
    const socket = this.#socket,
      ports = this.#ports;
    const isLast = ports.isDraining();
    const { text, encoding } = answerText(answer, isLast ? undefined : ports.keepAliveMs);
    socket.write(text, encoding);
    ports.answered(socket);
    if (isLast) this.#finish();
    // Node gets clients that send ahead or do not read the responses.
    else if (this.#isEnded || this.#receivedBytes > 0 || socket.writableNeedDrain) this.#leave();
  }

  /** Ends the connection, and drops what the client still sends. */
  #finish(): void {
    const socket = this.#socket;
    socket.off('data', this.#onData).off('end', this.#onEnd).off('timeout', this.#onTimeout);
    endConnection(socket);
  }

  /** Closes the connection when `work` fails: after a bug of this service nothing else would close it. */
  #orCut(work: Promise<void>): void {
    work.catch(() => this.#socket.destroy());
  }

  /** Waits for the rest of a request, with a short timeout after which Node's deadlines apply. */
  #awaitMore(): void {
    if (this.#isEnded) {
      this.#end();
      return;
    }
    this.#isPatient = false;
    this.#socket.setTimeout(this.#ports.patienceMs);
  }

  /** Waits for the next request, for which a client may take its time. */
  #bePatient(): void {
    if (this.#isPatient) return;
    this.#isPatient = true;
    this.#socket.setTimeout(this.#ports.keepAliveMs + KEEP_ALIVE_GRACE_MS);
  }

  /** Gives the connection to Node, with all bytes that got no response. */
  #leave(): void {
    const socket = this.#socket,
      ports = this.#ports;
    // Nothing can be put back into a stream that has ended. Node, too, sends no response to a client that ends its side
    // before it is admitted.
    if (this.#isEnded) {
      socket.end();
      return;
    }
    const bytes = this.#joined();
    ports.budget.release(this.#receivedBytes, this.#tenantId);
    socket.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose);
    socket.off('error', ignore).off('timeout', this.#onTimeout).setTimeout(0);
    ports.left(this);
    ports.answered(socket);
    socket.pause();
    if (bytes.length > 0) socket.unshift(bytes);
    ports.handOver(socket);
  }

  /** The client has ended its side, in the middle of a request or between two. */
  #end(): void {
    if (this.#receivedBytes > 0) answerUnparsable(new Error('half a request'), this.#socket);
    else this.#socket.end();
  }

  #joined(): Buffer {
    const first = this.#pieces[0];
    if (first !== undefined && this.#pieces.length === 1) return first;
    const joined = Buffer.concat(this.#pieces, this.#receivedBytes);
    this.#pieces = [joined];
    return joined;
  }
}

/** Ignores an error, because `close` follows it. */
function ignore(): void {}
