-- How often commands were used is forgotten by a job from now on; it begins with what is there.
insert into jobs (kind, key, due, data)
    select distinct 'command_uses', c.application_id, 0, ''
    from command_uses u join commands c on c.id = u.command_id;

-- Applications with a global command that was used lately say so (ACTIVE); the job takes it from
-- those where that was too long ago.
update applications set flags = flags + 16777216 where (flags & 16777216) = 0 and id in
    (select c.application_id from commands c join command_uses u on u.command_id = c.id
     where c.guild_id = 0);
