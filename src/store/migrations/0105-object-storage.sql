-- expand: servers of the version before do not store files in object storage
-- With --blobs s3://…: objects whose row in files may not be committed, since when (seconds since 1970).
-- owner: store
create table object_uploads (
    name text primary key not null,
    began_at bigint not null
);

-- The bucket in which the files of this server are; no row: they are in the data folder or in PostgreSQL.
-- owner: store
create table object_location (
    id bigint primary key not null,
    address text not null
);
