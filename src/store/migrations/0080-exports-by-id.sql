-- expand: servers of the version before do not use it.
-- Whose a file in the folder of exports is.
create index exports_by_id on exports (id);
