-- oldest release: 0.1.0
-- no transaction
-- Messages that wait for their deliveries to be written are taken from each tenant in turn.
create index concurrently if not exists webhook_messages_waiting_of_tenant
  on webhook_messages (tenant_id, created_at_ms) where fanned_out_at_ms is null;
