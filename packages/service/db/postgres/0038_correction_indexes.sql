-- The first index finds the transactions of one correction. The second finds the used credits of a wallet that have not
-- expired, which a correction refills; a credit without an expiry has the greatest number in its place.
-- oldest release: 0.1.0
-- no transaction
create index concurrently if not exists ledger_transactions_by_correction
  on ledger_transactions (project_id, correction_id, id) where correction_id is not null;
create index concurrently if not exists credit_grants_used
  on credit_grants (project_id, account_id, currency, (coalesce(expires_at, 9223372036854775807)))
  where remaining < amount and expired_at is null;
