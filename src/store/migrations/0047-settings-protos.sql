-- Settings of clients that the server does not understand: protocol buffers, as base64.
-- owner: platform/accounts
-- world: no, because settings and notes are private
-- export: settings_protos
create table settings_protos (
    user_id bigint not null references users (id) on delete cascade,
    type bigint not null, -- 1 preloaded, 2 frecency, 3 test
    version bigint not null,
    settings text not null, -- without the versions, which are field 1
    primary key (user_id, type)
) {clustered};
