-- Emoji with their pictures: who may use one, who brought it, under which name it is kept.
alter table emojis add column roles text not null default '[]';
alter table emojis add column user_id bigint;
alter table emojis add column image text;

-- An application's own emoji; its bot uses them everywhere.
-- owner: platform/emojis
-- deletion: user_id: stays, because it says who uploaded an emoji
-- world: applications.emojis
-- export: no, because it belongs to the application
create table application_emojis (
    id {id},
    application_id bigint not null references applications (id) on delete cascade,
    name text not null,
    animated bigint not null default 0,
    user_id bigint,
    image text
);

create unique index application_emojis_by_name on application_emojis (application_id, name);
