-- Files that were asked for by address, sent there, and wait for a message that names them.
-- owner: platform/messages
-- deletion: owner_id: a job deletes those that no message names
-- world: no, because files stay behind
-- export: no, because it is answered and forgotten
create table cloud_uploads (
    id {id}, -- and what its address is signed by
    key text not null unique,
    owner_id bigint not null,
    filename text not null,
    size bigint not null, -- as announced
    file_id bigint, -- null: nothing was sent yet
    content_type text,
    width bigint,
    height bigint,
    place_id bigint -- null: it waits for a message; else it is shown there, for a day
);

create index cloud_uploads_shown on cloud_uploads (file_id) where place_id is not null;
