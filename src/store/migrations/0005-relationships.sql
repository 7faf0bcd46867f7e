-- Friends, requests and blocks: a row for each side that has one.
-- owner: platform/relationships
-- world: relationships
-- export: relationships
create table relationships (
    user_id bigint not null references users (id) on delete cascade,
    target_id bigint not null references users (id) on delete cascade,
    type bigint not null, -- 0 none (ignored only), 1 friend, 2 blocked, 3 incoming, 4 outgoing, 5 implicit
    nickname text,
    since bigint,
    is_spam bigint not null default 0,
    is_stranger bigint not null default 0,
    ignored bigint not null default 0,
    origin_application_id bigint,
    note text,
    primary key (user_id, target_id)
) {clustered};

create index relationships_by_target on relationships (target_id, type);
