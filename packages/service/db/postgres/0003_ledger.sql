-- Accounts, wallets and the double-entry ledger. Amounts are exact; times are Unix seconds unless the name ends in _ms.

create table accounts (
  tenant_id text not null,
  project_id text not null,
  id text not null,
  name text not null,
  external_id text,
  created_at bigint not null,
  primary key (project_id, id),
  foreign key (tenant_id, project_id) references projects (tenant_id, id)
);
create unique index accounts_by_external_id on accounts (project_id, external_id) where external_id is not null;

-- One balance per account and currency: a running total of the ledger, kept in the same transactions.
create table wallets (
  tenant_id text not null,
  project_id text not null,
  account_id text not null,
  currency text not null,
  mode text not null default 'postpaid' check (mode in ('postpaid', 'prepaid')),
  balance numeric not null default 0,
  -- Usage that a prepaid wallet could not pay; the next credit pays it first.
  owed numeric not null default 0 check (owed >= 0),
  -- Held by active budget leases.
  reserved numeric not null default 0 check (reserved >= 0),
  -- Debits that the grants have not been charged with yet: that is done before the grants change. Below zero: refunds, which are
  -- used up before any grant.
  unapplied_debit numeric not null default 0,
  -- The earliest expiry of a grant with something left.
  next_expiry_at bigint,
  created_at bigint not null,
  primary key (project_id, account_id, currency),
  foreign key (project_id, account_id) references accounts (project_id, id),
  check (mode = 'prepaid' or owed = 0),
  check (mode = 'postpaid' or balance >= 0)
) with (fillfactor = 70); -- Every batch updates its wallets: the new versions fit beside the old ones.
create index wallets_by_expiry on wallets (next_expiry_at) where next_expiry_at is not null;

-- It refers to wallets, and the entries to it, without foreign keys: all are written by the same few statements, a batch at a time,
-- and checking every row again would double what those cost. Verification looks for what should not be there.
create table ledger_transactions (
  tenant_id text not null,
  project_id text not null,
  id text not null,
  account_id text not null,
  currency text not null,
  kind text not null check (kind in ('usage', 'credit', 'adjustment', 'credit_expiry', 'mode_change')),
  description text,
  created_at_ms bigint not null,
  primary key (project_id, id)
);
create index ledger_transactions_by_account on ledger_transactions (project_id, account_id, id);
-- Nearly all there is, is usage: what was done by hand must be found without reading all of that.
create index ledger_transactions_besides_usage on ledger_transactions (project_id, account_id, id) where kind <> 'usage';

-- The lines of a transaction add up to zero. `wallet` and `receivable` are what the tenant's customer has and owes; the others say
-- where it came from or went to.
create table ledger_entries (
  tenant_id text not null,
  project_id text not null,
  transaction_id text not null,
  ledger_account text not null
    check (ledger_account in ('wallet', 'receivable', 'usage', 'credits', 'adjustments', 'expired_credits')),
  amount numeric not null,
  primary key (project_id, transaction_id, ledger_account)
);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name;
end
$$;
create trigger ledger_transactions_append_only before update or delete on ledger_transactions
  for each row execute function refuse_change();
create trigger ledger_entries_append_only before update or delete on ledger_entries
  for each row execute function refuse_change();

-- Prepaid credit and positive adjustments. They are used up by priority (lower first), then by earliest expiry, then by age.
create table credit_grants (
  tenant_id text not null,
  project_id text not null,
  id text not null,
  account_id text not null,
  currency text not null,
  transaction_id text not null,
  source text not null check (source in ('credit', 'adjustment')),
  amount numeric not null check (amount > 0),
  remaining numeric not null check (remaining >= 0 and remaining <= amount),
  priority integer not null default 0,
  expires_at bigint,
  expired_at bigint,
  description text,
  created_at bigint not null,
  primary key (project_id, id),
  foreign key (project_id, account_id, currency) references wallets (project_id, account_id, currency)
);
create index credit_grants_live on credit_grants (project_id, account_id, currency) where remaining > 0;

-- Answers of requests that carried an Idempotency-Key.
create table idempotent_requests (
  tenant_id text not null,
  project_id text not null,
  operation text not null,
  key text not null,
  -- SHA-256 of what was asked.
  request_hash bytea not null,
  answer json not null,
  created_at bigint not null,
  primary key (project_id, operation, key)
);
