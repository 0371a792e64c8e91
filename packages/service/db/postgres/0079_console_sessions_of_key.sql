-- oldest release: 0.1.0
-- no transaction
-- The oldest sessions of a key end when it has too many.
create index concurrently if not exists console_sessions_of_key on console_sessions (key_hash, created_at);
