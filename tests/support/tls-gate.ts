import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { createServer, type Server } from 'node:tls';
import type { CertificateFiles } from '../../packages/service/src/testing/certificates.js';
import { freePort } from './service.js';

/** A TLS endpoint in front of a server on this machine, which requires certificates of clients. */
export class TlsGate {
  /** Names in the certificates of the clients that have connected. */
  readonly clients = new Set<string>();
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(
    readonly port: number,
    server: Server,
  ) {
    this.#server = server;
  }

  /** @param ca file of the authority of clients */
  static async start(target: number, own: CertificateFiles, ca: string): Promise<TlsGate> {
    const options = { ...contextOf(own), ca: readFileSync(ca), requestCert: true, rejectUnauthorized: true };
    const server = createServer(options, (client) => {
      gate.clients.add(String(client.getPeerCertificate().subject.CN));
      const inner = connect(target, '127.0.0.1');
      gate.#join(client, inner);
      gate.#join(inner, client);
    });
    server.on('tlsClientError', () => {});
    const gate = new TlsGate(await freePort(), server);
    await new Promise<void>((resolve) => server.listen(gate.port, '127.0.0.1', resolve));
    return gate;
  }

  /** Presents this certificate on new connections. */
  serve(own: CertificateFiles): void {
    this.#server.setSecureContext(contextOf(own));
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
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

function contextOf({ cert, key }: CertificateFiles): { readonly cert: Buffer; readonly key: Buffer } {
  return { cert: readFileSync(cert), key: readFileSync(key) };
}
