import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { type Clock, unixSeconds } from '../../kernel/clock.js';
import { type App, secured } from '../../platform/http/index.js';
import { SANDBOX_PREFIX } from './http-client.js';
import { absentPage, completePage, expiredPage, type HtmlPage, openPage, returnPage } from './page.js';
import { type SandboxSession, stateOf, successUrlOf } from './session.js';
import type { SandboxSessions } from './sessions.js';

const PAGES_URL = `${SANDBOX_PREFIX}/checkout`;
const RETURN_URL = `${SANDBOX_PREFIX}/return`;
const config = { access: { kind: 'public' } } as const;

/** Returns the path of a session's page; whoever knows its id may open it. */
export function pagePath(sessionId: string): string {
  return `${PAGES_URL}/${sessionId}`;
}

/** Returns the path of the page to which buyers return when no other is configured. */
export function returnPath(outcome: 'success' | 'cancel'): string {
  return `${RETURN_URL}/${outcome}`;
}

/** Registers the pages on which buyers pay or cancel. They work without scripts. */
export function registerSandboxPageRoutes(app: App, sessions: SandboxSessions, clock: Clock): void {
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // The buttons send forms without fields.
    scope.addContentTypeParser('application/x-www-form-urlencoded', { bodyLimit: 0 }, async () => undefined);
    registerSessionPages(scope as App, sessions, clock);
    registerReturnPages(scope as App);
  });
}

function registerSessionPages(app: App, sessions: SandboxSessions, clock: Clock): void {
  const url = `${PAGES_URL}/:session_id`;
  const schema = { hide: true, params: Type.Object({ session_id: Type.String() }) };
  app.route({
    method: 'GET',
    url,
    config,
    schema,
    handler: async ({ params }, reply) =>
      sendSession(reply, await sessions.find(params.session_id), unixSeconds(clock)),
  });
  app.route({
    method: 'POST',
    url: `${url}/pay`,
    config,
    schema,
    handler: async ({ params }, reply) => {
      const session = await sessions.pay(params.session_id);
      if (session?.status === 'complete') return reply.redirect(successUrlOf(session), 303);
      return sendSession(reply, session, unixSeconds(clock));
    },
  });
  app.route({
    method: 'POST',
    url: `${url}/decline`,
    config,
    schema,
    handler: async ({ params }, reply) => {
      const session = await sessions.decline(params.session_id);
      // Relative, as the forms are: browsers may reach the service below another path.
      if (session !== undefined) return reply.redirect(`../${session.id}`, 303);
      return sendSession(reply, session, unixSeconds(clock));
    },
  });
}

function registerReturnPages(app: App): void {
  for (const outcome of ['success', 'cancel'] as const) {
    app.route({
      method: 'GET',
      url: returnPath(outcome),
      config,
      schema: { hide: true },
      handler: async (_request, reply) => send(reply, 200, returnPage(outcome)),
    });
  }
}

function sendSession(reply: FastifyReply, session: SandboxSession | undefined, nowS: number): FastifyReply {
  if (session === undefined) return send(reply, 404, absentPage());
  switch (stateOf(session, nowS)) {
    case 'open':
      return send(reply, 200, openPage(session));
    case 'complete':
      return send(reply, 200, completePage(session));
    case 'expired':
      return send(reply, 410, expiredPage(session));
  }
}

function send(reply: FastifyReply, status: number, { html, contentSecurityPolicy }: HtmlPage): FastifyReply {
  return secured(reply)
    .code(status)
    .header('content-security-policy', contentSecurityPolicy)
    .header('cache-control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(html);
}
