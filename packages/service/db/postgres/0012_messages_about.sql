-- Of whom a message tells: what was told of one of them is found without reading all the rest.
alter table webhook_messages add column about text;
create index webhook_messages_about on webhook_messages (project_id, about, id) where about is not null;
