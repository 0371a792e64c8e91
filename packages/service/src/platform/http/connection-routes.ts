import type { Socket } from 'node:net';
import type { ConnectionLimit } from './connection-limit.js';
import type { ExpressLane } from './express-lane/express-lane.js';
import { type PassedConnection, takeSocket } from './passed-socket.js';
import type { App } from './types.js';

export interface ConnectionRoutes {
  /** Whether plain requests may take the express lane; default true. */
  readonly expressLane?: boolean;
  /** Passes a new connection to another process. Returns false when none takes it; default: none does. */
  readonly passOn?: ((socket: Socket) => boolean) | undefined;
  /** Takes the connections that the express lane does not serve; default: Node's server of this application. */
  readonly handOver?: (socket: Socket) => void;
}

/**
 * Puts other processes and the express lane before Node's handler of connections: an accepting process takes a new
 * connection, otherwise the lane of this one. Surplus connections, and those that the lane does not serve, go to Node.
 */
export function routeConnections(
  app: App,
  { expressLane = true, passOn = () => false, handOver }: ConnectionRoutes,
  lane: ExpressLane,
  connections: ConnectionLimit,
): void {
  const { server } = app;
  const [node, ...others] = server.listeners('connection') as ((socket: Socket) => void)[];
  if (node === undefined || others.length > 0)
    throw new Error('a server with one handler of connections is needed');
  const toNode = (socket: Socket) => {
    node.call(server, socket);
    socket.resume();
  };
  const rest = handOver ?? toNode;
  server.off('connection', node);
  server.on('connection', (socket) => {
    if (passOn(socket) || !connections.admit(socket)) return;
    if (!expressLane || connections.isSurplus(socket)) rest(socket);
    else lane.serve(socket);
  });
  app.addHook('onReady', async () => lane.open(server, rest));
  app.decorate('takeConnection', (passed: PassedConnection, socket: Socket) => {
    takeSocket(passed, socket);
    if (connections.admit(socket)) toNode(socket);
  });
  // The server waits only for connections that it has accepted itself.
  app.addHook('onClose', () => connections.closed());
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Serves a connection that another process has passed here. */
    takeConnection(passed: PassedConnection, socket: Socket): void;
  }
}
