-- Payments that were given back or are contested, by the provider's id of the payment: they can be reported before the payment is.
create table payment_reversals (
  provider text not null check (provider in ('sandbox', 'stripe')),
  payment_id text not null,
  kind text not null check (kind in ('refund', 'dispute')),
  -- The provider's id: of the charge that was refunded, or of the dispute.
  reference text not null,
  -- In minor units: all that was refunded of the charge so far, or what is contested.
  amount_minor bigint not null check (amount_minor > 0),
  currency text not null,
  reason text,
  recorded_at bigint not null,
  primary key (provider, payment_id, kind, reference)
);
-- Finds disputes of payments that are not ours, which are forgotten after a while.
create index payment_reversals_oldest on payment_reversals (recorded_at);
