import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from './service.js';

/** A way to a server on this machine. While it is shut, its connections are broken and new ones are refused. */
export class TcpGate {
  /** The port of the gate itself. */
  readonly port: number;
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;

  private constructor(port: number, target: number) {
    this.port = port;
    this.#target = target;
  }

  /** @param target port of the server */
  static async to(target: number): Promise<TcpGate> {
    const gate = new TcpGate(await freePort(), target);
    await gate.open();
    return gate;
  }

  async open(): Promise<void> {
    this.#server = createServer((client) => {
      const server = connect(this.#target, '127.0.0.1');
      this.#join(client, server);
      this.#join(server, client);
    });
    await once(this.#server.listen(this.port, '127.0.0.1'), 'listening');
  }

  async shut(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(server, 'close');
  }

  #join(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.on('error', () => {});
    from.once('close', () => {
      this.#sockets.delete(from);
      to.destroy();
    });
    from.pipe(to);
  }
}
