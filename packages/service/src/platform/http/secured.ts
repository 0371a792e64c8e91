import type { FastifyReply } from 'fastify';

/** Adds what pages that browsers show need: they tell no other site of the page that a person came from. */
export function secured(reply: FastifyReply): FastifyReply {
  return reply.header('referrer-policy', 'no-referrer');
}
