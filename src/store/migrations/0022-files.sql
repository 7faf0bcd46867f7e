-- Every blob that something refers to: to whom its bytes count, and whether it has to go.
-- owner: store
-- deletion: owner_id: stays, because the attachments of an account stay
-- world: no, because files stay behind
-- export: no, because the files themselves are exported
create table files (
    id {id},
    name text not null unique,         -- of the blob
    owner_id bigint not null,          -- 0: counts for nobody
    size bigint not null,
    created_at bigint not null,
    gone bigint not null default 0     -- deleted as soon as the pool comes to it
);

create index files_gone on files (id) where gone = 1;

-- owner: store
-- deletion: owner_id: stays, because the attachments of an account stay
-- world: no, because files stay behind
-- export: no, because the files themselves are exported
create table file_owners (
    owner_id bigint primary key not null,
    bytes bigint not null,             -- of all files that are there
    day bigint not null,               -- since 1970
    day_bytes bigint not null          -- taken in on that day, whatever became of them
) {clustered};

-- What was kept before counts for nobody.
insert into files (id, name, owner_id, size, created_at)
    select id, 'attachments/' ||
        substr('0123456789abcdef', cast(((id >> 26) & 15) + 1 as integer), 1) ||
        substr('0123456789abcdef', cast(((id >> 22) & 15) + 1 as integer), 1) || '/' || id,
        0, size, 0
    from (select id, size from attachments union select id, size from interaction_files) kept;

-- Pictures have no id of their own: theirs are the numbers that no snowflake has.
insert into files (id, name, owner_id, size, created_at)
    select row_number() over (order by name), name, 0, 0, 0 from (
        select 'avatars/' || id || '/' || avatar as name from users where avatar is not null
        union select 'banners/' || id || '/' || banner from users where banner is not null
        union select 'avatars/' || id || '/' || avatar from webhooks where avatar is not null
        union select 'icons/' || id || '/' || icon from guilds where icon is not null
        union select 'banners/' || id || '/' || banner from guilds where banner is not null
        union select 'splashes/' || id || '/' || splash from guilds where splash is not null
        union select 'discovery-splashes/' || id || '/' || discovery_splash from guilds
            where discovery_splash is not null
        union select 'home-headers/' || id || '/' || home_header from guilds
            where home_header is not null
        union select 'role-icons/' || id || '/' || icon from roles where icon is not null
        union select 'channel-icons/' || id || '/' || icon from channels where icon is not null
        union select 'app-icons/' || id || '/' || icon from applications where icon is not null
        union select 'team-icons/' || id || '/' || icon from teams where icon is not null
        union select 'streams/' || owner_id || '/' || preview from streams
            where preview is not null
        union select 'streams/' || owner_id || '/' || video from streams where video is not null
        union select 'member-avatars/' || user_id || '/' || avatar from members
            where avatar is not null group by user_id, avatar having count(*) = 1
        union select 'member-banners/' || user_id || '/' || banner from members
            where banner is not null group by user_id, banner having count(*) = 1
    ) pictures;
