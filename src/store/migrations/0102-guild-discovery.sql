-- expand: guilds have an entry in the public list of discoverable guilds
-- owner: platform/discovery
-- world: no, because a guild describes itself again on another server
-- export: no, because it belongs to the guild
create table guild_discovery (
    guild_id {id},
    primary_category_id bigint not null default 0,
    keywords text,                            -- JSON: list of texts
    emoji_discoverability_enabled bigint not null default 1,
    is_published bigint not null default 0,
    reasons_to_join text not null default '[]', -- JSON
    social_links text,                        -- JSON: list of URLs
    about text,
    category_ids text not null default '[]'   -- JSON: list of numbers
);

-- The list shows the largest guilds first.
create index guilds_discoverable on guilds (member_count, id)
    where features like '%"DISCOVERABLE"%' and removed = 0;
