-- expand: servers of the version before leave it 0.
-- After a restart a voice state stays until then for the session that holds it: it may be resumed.
alter table voice_states add column held_until bigint not null default 0;
