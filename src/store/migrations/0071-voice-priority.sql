-- Whether somebody in voice may be heard over the others, as its rights were last judged.
alter table voice_states add column priority bigint not null default 0;
