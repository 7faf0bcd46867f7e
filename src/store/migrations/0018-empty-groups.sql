-- Commands whose groups are all empty can be used nowhere; lists that say otherwise are made anew.
update commands set contexts = 0 where type = 1 and id in
    (select command_id from command_definitions
     where definition like '%"options":[{"type":2,%' and definition not like '%{"type":1,%');

update command_lists set entries = 'anew' where (application_id, guild_id) in
    (select application_id, guild_id from commands where contexts = 0);

-- Channels and the threads that are open, without those that are archived: every index of a
-- guild's commands asks where they could be used.
create index channels_by_open on channels (guild_id, id) where thread_archived = 0;
