-- Files that were asked for by address, sent there, and wait for a message that names them.
create table cloud_uploads (
    id {id}, -- and what its address is signed by
    key text not null unique,
    owner_id bigint not null,
    filename text not null,
    size bigint not null, -- as announced
    file_id bigint, -- null: nothing was sent yet
    content_type text,
    width bigint,
    height bigint
);
