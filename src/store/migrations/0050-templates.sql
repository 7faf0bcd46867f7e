-- Templates of guilds: how one was arranged, to found others after. What is kept of it is JSON,
-- packed, as nobody asks for a part of it.
-- owner: platform/templates
-- world: guilds.template
create table guild_templates (
    code text primary key,
    guild_id bigint not null unique,
    name text not null,
    description text,
    creator_id bigint not null,
    usage_count bigint not null default 0,
    created_at bigint not null,
    updated_at bigint not null,
    source bytea not null,
    source_size bigint not null, -- unpacked
    digest bytea not null
);
