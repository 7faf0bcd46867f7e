-- expand: the operator shows one announcement to everybody
-- owner: platform/instance
-- world: no, because announcements are of the operator of this server
-- export: no, because announcements are of the operator
create table announcements (
    id {id},
    content text not null,
    expires_at bigint not null
);
