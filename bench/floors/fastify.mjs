// Floor: Fastify, the contract's own schemas by Ajv, and a SHA-256 per event. Nothing is kept.
import { hash } from 'node:crypto';
import { BATCH_BODY_BYTES_MAX, BatchIngest, IngestEvent } from '@tollgate/contract';
import fastify from 'fastify';

const app = fastify({
  bodyLimit: BATCH_BODY_BYTES_MAX,
  ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
});
const idOf = (event) =>
  `evt_${hash('sha256', `tenant\nproject\n${event.occurred_at}\n${event.idempotency_key}`, 'hex').slice(0, 32)}`;

app.post('/single', { schema: { body: IngestEvent } }, (request, reply) =>
  reply.code(202).send({ raw_event_id: idOf(request.body), status: 'received' }),
);
app.post('/batch', { schema: { body: BatchIngest } }, (request, reply) => {
  const raw_event_ids = request.body.events.map(idOf);
  return reply.code(202).send({ status: 'received', count: raw_event_ids.length, raw_event_ids });
});
await app.listen({ port: 0, host: '127.0.0.1' });
process.send({ port: app.server.address().port });
process.once('disconnect', () => process.exit());
