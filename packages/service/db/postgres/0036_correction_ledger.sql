-- A correction of rated usage posts transactions of a kind of its own, which name the correction. The next migration
-- checks the rows that exist.
-- oldest release: 0.1.0
alter table ledger_transactions add column correction_id text,
  drop constraint ledger_transactions_kind_check,
  add constraint ledger_transactions_kind_check
    check (kind in ('usage', 'credit', 'adjustment', 'credit_expiry', 'mode_change', 'correction')) not valid,
  add constraint ledger_transactions_correction_check
    check ((kind = 'correction') = (correction_id is not null)) not valid;
