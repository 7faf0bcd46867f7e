-- expand: ids of messages become visible in increasing order in each channel
-- postgres:
-- The last id of each part of the channels. Sequences are read and set outside of transactions, so
-- that a transaction sees ids that were committed after its snapshot.
do $$ begin
    for part in 0 .. 63 loop
        execute format('create sequence id_order_%s', part);
    end loop;
end $$;

-- ids: for each part its number, the least and the greatest new id. The locks are held until the
-- transaction ends. An id of far_future or later comes from a wrong clock and is ignored.
create function commit_in_id_order(ids bigint[], far_future bigint) returns void
    language plpgsql as $$
declare
    part_sequence regclass;
    last_id bigint;
begin
    for i in 1 .. array_length(ids, 1) by 3 loop
        perform pg_advisory_xact_lock(7166184 # hashtext(current_schema()), ids[i]::int);
        part_sequence := 'id_order_' || ids[i];
        last_id := coalesce(pg_sequence_last_value(part_sequence), 0);
        if last_id >= ids[i + 1] and last_id < far_future then
            raise exception '%', last_id using errcode = 'serialization_failure';
        end if;
        perform setval(part_sequence, ids[i + 2]);
    end loop;
end $$;
