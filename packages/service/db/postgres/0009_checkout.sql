-- Orders of plans, paid on a page of the payment provider; and the provider that comes with the service, for trying it out.

create table payment_orders (
  tenant_id text not null references tenants (id),
  id text not null,
  status text not null check (status in ('pending', 'expired', 'paid')),
  -- What is bought, as it was when the order was made: every request to the provider is made of this.
  plan_id text not null,
  plan_revision integer not null,
  -- The whole plan, as the interface shows it: this is what is granted.
  plan json not null,
  product_name text not null,
  -- In minor units of the currency.
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  success_url text not null,
  cancel_url text not null,
  expires_at bigint not null,
  provider text not null check (provider in ('sandbox', 'stripe')),
  -- The one page on which it can be paid. Null until the provider has answered and that was written down.
  session_id text,
  session_url text,
  -- When that page closes, as the provider says it.
  session_expires_at bigint,
  -- The provider's id of the payment.
  payment_id text,
  paid_at bigint,
  created_at bigint not null,
  primary key (tenant_id, id),
  unique (id),
  constraint payment_orders_session unique (provider, session_id),
  constraint payment_orders_payment unique (provider, payment_id),
  check ((session_id is null) = (session_url is null) and (session_id is null) = (session_expires_at is null)),
  check ((status = 'paid') = (payment_id is not null) and (status = 'paid') = (paid_at is not null))
);
-- A tenant has one checkout at a time; whoever begins another first ends what is over.
create unique index payment_orders_one_pending on payment_orders (tenant_id) where status = 'pending';
create index payment_orders_newest on payment_orders (tenant_id, created_at desc, id desc);

-- What was bought never changes, a page is attached once, and nothing takes a payment back.
create function refuse_change_of_order() returns trigger language plpgsql as $$
declare
  progress constant text[] := '{status,session_id,session_url,session_expires_at,payment_id,paid_at}';
begin
  if tg_op = 'DELETE'
    or to_jsonb(new) - progress <> to_jsonb(old) - progress
    or (old.session_id is not null and (new.session_id, new.session_url, new.session_expires_at)
      is distinct from (old.session_id, old.session_url, old.session_expires_at))
    or (old.status = 'paid' and (new.status, new.payment_id, new.paid_at)
      is distinct from (old.status, old.payment_id, old.paid_at))
    or (old.status = 'expired' and new.status = 'pending')
  then
    raise exception 'payment order % must not change so', old.id;
  end if;
  return new;
end
$$;
create trigger payment_orders_progress before update or delete on payment_orders
  for each row execute function refuse_change_of_order();

-- Which order an Idempotency-Key has led to, for ever: several keys may have led to one.
create table payment_order_keys (
  tenant_id text not null,
  key text not null,
  order_id text not null,
  created_at bigint not null,
  primary key (tenant_id, key),
  foreign key (tenant_id, order_id) references payment_orders (tenant_id, id)
);

-- What the sandbox remembers as a payment provider would. No table of the service refers to it.
create table sandbox_sessions (
  id text primary key,
  -- One session for all requests with the same key, and what the first of them asked for.
  idempotency_key text not null unique,
  request_hash bytea not null,
  status text not null check (status in ('open', 'complete')),
  product_name text not null,
  amount_minor bigint not null,
  currency text not null,
  success_url text not null,
  cancel_url text,
  payment_metadata json not null,
  payment_intent_id text not null unique,
  declined integer not null default 0,
  expires_at bigint not null,
  created_at bigint not null
);

create index sandbox_sessions_ended on sandbox_sessions (expires_at);

-- Events that the sandbox still has to deliver; what was received is deleted.
create table sandbox_events (
  id text primary key,
  -- The JSON text as it is signed and sent.
  body text not null,
  attempts integer not null default 0,
  next_attempt_at_ms bigint not null,
  created_at_ms bigint not null
);
create index sandbox_events_due on sandbox_events (next_attempt_at_ms);
