-- A turn of deferred events is of one tenant in one shard, so that it posts for few slots.
create index segments_deferred_by_shard on segments (deferred_tenant_id, shard, received_at_ms, id)
  where deferred_tenant_id is not null;
drop index segments_deferred;
