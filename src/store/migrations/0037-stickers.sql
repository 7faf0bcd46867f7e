-- Stickers of guilds, with their files: who brought one, under which name it is kept.
-- owner: platform/stickers
-- deletion: user_id: stays, because it says who uploaded a sticker
-- world: guilds.stickers
-- export: no, because it belongs to the guild
create table stickers (
    id {id},
    guild_id bigint not null references guilds (id) on delete cascade,
    name text not null,
    description text,
    tags text not null,
    format bigint not null, -- 1 PNG, 2 APNG, 3 Lottie, 4 GIF
    user_id bigint,
    image text
);

create index stickers_by_guild on stickers (guild_id, id);

-- What a message shows of its stickers (JSON); those that are deleted stay drawn by name.
alter table messages add column sticker_items text;
