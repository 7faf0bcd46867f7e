-- expand: nodes read only the entries of the event log that their sessions need
-- postgres:
-- Recipients of the entry (cluster/log_address.h); null if all nodes need it.
alter table log add column recipients bytea;

-- Returns whether the set of parts contains one of the four parts at the beginning of recipients.
create function log_recipients_include(recipients bytea, parts bytea) returns boolean
    language sql immutable parallel safe as $$
    select case when recipients is null or octet_length(recipients) < 8 then true else
        get_bit(parts, (get_byte(recipients, 0) & 1) * 256 + get_byte(recipients, 1)) = 1
        or get_bit(parts, (get_byte(recipients, 2) & 1) * 256 + get_byte(recipients, 3)) = 1
        or get_bit(parts, (get_byte(recipients, 4) & 1) * 256 + get_byte(recipients, 5)) = 1
        or get_bit(parts, (get_byte(recipients, 6) & 1) * 256 + get_byte(recipients, 7)) = 1
    end
$$;
