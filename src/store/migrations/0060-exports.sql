-- What people have asked for of what is kept about them: one file a person.
-- owner: platform/exports
-- world: no, because a person asks again for an export
-- export: no, because it is the export
create table exports (
    user_id bigint primary key references users (id) on delete cascade,
    id bigint not null,
    ready bigint not null default 0,
    bytes bigint not null default 0,
    expires_at bigint not null
);
