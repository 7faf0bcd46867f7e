-- The applications of a guild, in their order and without looking at their rows: an index of
-- commands asks for them four times.
create index integrations_by_installed on integrations (guild_id, type, application_id);
