import type { FastifyReply } from 'fastify';

/** Adds headers for pages in browsers: no referrer is sent to other sites. */
export function secured(reply: FastifyReply): FastifyReply {
  return reply.header('referrer-policy', 'no-referrer');
}
