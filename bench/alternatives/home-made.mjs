// A service that a team would write itself: checks and leases of one budget for each subject, behind Fastify, in
// PostgreSQL alone or with the budgets in Redis. Nothing else of Tollgate is in it: no windows, rules, wallets, tenants
// or expiry.
import { randomUUID } from 'node:crypto';
import fastify from 'fastify';
import { Redis } from 'ioredis';
import pg from 'pg';

const POOL_MAX = 10;
const CHECK = {
  name: 'check',
  text: 'select used + reserved + $2::numeric <= max as allowed from budgets where subject = $1',
};
const RESERVE = {
  name: 'reserve',
  text: `with taken as (
    update budgets set reserved = reserved + $2::numeric
    where subject = $1 and used + reserved + $2::numeric <= max returning subject)
    insert into leases (id, subject, amount, expires_at)
    select $3, subject, $2::numeric, now() + $4 * interval '1 second' from taken returning id`,
};
const KEEP = {
  name: 'keep',
  text: `insert into leases (id, subject, amount, expires_at) values ($3, $1, $2, now() + $4 * interval '1 second')`,
};
/** Amounts are integers here: Redis has no decimals. */
const RESERVE_IN_REDIS = `
  local b = redis.call('HMGET', KEYS[1], 'used', 'reserved', 'max')
  if b[1] + b[2] + ARGV[1] > tonumber(b[3]) then return 0 end
  redis.call('HINCRBY', KEYS[1], 'reserved', ARGV[1])
  return 1`;
const body = {
  type: 'object',
  required: ['subject_id', 'amount'],
  properties: {
    subject_id: { type: 'string' },
    amount: { type: 'string' },
    ttl_seconds: { type: 'integer' },
  },
};

process.once('disconnect', () => process.exit());
process.once('message', async ({ connection, redisPort, subjects }) => {
  const pool = new pg.Pool({ ...connection, max: POOL_MAX });
  const redis = redisPort === undefined ? undefined : new Redis(redisPort, '127.0.0.1');
  if (redis === undefined) await fillPostgres(pool, subjects);
  else await fillRedis(redis, subjects);
  const app = fastify();
  app.post('/check', { schema: { body } }, async ({ body: asked }) => ({
    allowed: redis === undefined ? await checkIn(pool, asked) : await checkInRedis(redis, asked),
  }));
  app.post('/leases', { schema: { body } }, async ({ body: asked }, reply) => {
    const id = randomUUID();
    const isGranted =
      redis === undefined ? await reserveIn(pool, id, asked) : await reserveInRedis(redis, pool, id, asked);
    return reply.code(isGranted ? 201 : 409).send({ id });
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  process.send({ port: app.server.address().port });
});

async function fillPostgres(pool, subjects) {
  await pool.query(
    `insert into budgets (subject, used, reserved, max) select s, 0, 0, 1000000000000 from unnest($1::text[]) as s`,
    [subjects],
  );
  await pool.query('analyze budgets');
}

async function fillRedis(redis, subjects) {
  redis.defineCommand('reserve', { numberOfKeys: 1, lua: RESERVE_IN_REDIS });
  const all = redis.pipeline();
  for (const subject of subjects) all.hset(subject, { used: 0, reserved: 0, max: 1_000_000_000_000 });
  await all.exec();
}

async function checkIn(pool, { subject_id: subject, amount }) {
  const { rows } = await pool.query({ ...CHECK, values: [subject, amount] });
  return rows[0]?.allowed === true;
}

async function checkInRedis(redis, { subject_id: subject, amount }) {
  const [used, reserved, max] = await redis.hmget(subject, 'used', 'reserved', 'max');
  return Number(used) + Number(reserved) + Number(amount) <= Number(max);
}

async function reserveIn(pool, id, { subject_id: subject, amount, ttl_seconds: ttl }) {
  const { rowCount } = await pool.query({ ...RESERVE, values: [subject, amount, id, ttl] });
  return rowCount === 1;
}

/** The lease itself is kept in PostgreSQL: Redis may lose what it has acknowledged. */
async function reserveInRedis(redis, pool, id, { subject_id: subject, amount, ttl_seconds: ttl }) {
  if ((await redis.reserve(subject, amount)) === 0) return false;
  await pool.query({ ...KEEP, values: [subject, amount, id, ttl] });
  return true;
}
