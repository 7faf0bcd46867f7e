-- An account has so many addresses for files that no message names yet: they are counted.
create index cloud_uploads_by_owner on cloud_uploads (owner_id) where place_id is null;
