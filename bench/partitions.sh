#!/bin/sh
# partitions.sh - measures what partitions of the table `messages` by id would cost.
#
# Prints the processor time of one PostgreSQL connection for inserts and for queries as in the message
# routes, on a table without partitions and on tables with 12 and 60. Usage: scripts/with-postgres bench/partitions.sh [ROWS]
set -eu
rows=${1:-1000000}

measure() { # measure NAME SQL_FILE: processor time of the backend in ms
  psql -qAtX "$GUILDHALL_TEST_POSTGRES" -v ON_ERROR_STOP=1 -f "$work/setup.sql" -f "$2" >"$work/out"
  echo "$1: $(tail -1 "$work/out")"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The time that the backend itself has used, from its /proc entry.
cat >"$work/setup.sql" <<'SQL'
set search_path = partition_bench;
set client_min_messages = error;
set plan_cache_mode = auto;
SQL
cat >"$work/schema.sql" <<'SQL'
set client_min_messages = error;
drop schema if exists partition_bench cascade;
create schema partition_bench;
create function partition_bench.spent_ms() returns double precision language sql volatile as $$
  select sum(cast(split_part(line, ' ', 1) as double precision)) / 1e6 from regexp_split_to_table(pg_read_file(
    '/proc/' || pg_backend_pid() || '/schedstat', 0, 100), e'\n') as line where line <> ''
$$;
SQL
psql -qAtX "$GUILDHALL_TEST_POSTGRES" -v ON_ERROR_STOP=1 -f "$work/schema.sql"

for parts in 1 12 60; do
  table=messages_$parts
  {
    columns="id bigint primary key, channel_id bigint not null, author_id bigint not null, content text not null, pinned bigint not null default 0"
    if [ "$parts" = 1 ]; then
      echo "create table $table ($columns);"
    else
      echo "create table $table ($columns) partition by range (id);"
      i=0
      while [ $i -lt "$parts" ]; do
        echo "create table ${table}_$i partition of $table for values from ($((rows / parts * i))) to ($((i + 1 == parts ? rows * 2 : rows / parts * (i + 1))));"
        i=$((i + 1))
      done
    fi
    echo "create index on $table (channel_id, id); create index on $table (author_id, id); create index on $table (channel_id, id) where pinned = 1;"
    # A tenth of all messages is in one channel; 20,000 channels share the others.
    echo "insert into $table select n, case when n % 10 = 0 then 1 else 2 + (cast(n as bigint) * 7919) % 20000 end, n % 5000, repeat('x', 100) from generate_series(0, $rows - 1) n;"
    echo "vacuum analyze $table;"
  } >"$work/make.sql"
  measure "$parts parts: rows" "$work/make.sql" >/dev/null

  for kind in insert newest_of_busy newest_of_quiet by_id pinned by_author; do
    case $kind in
      insert) sql="insert into $table (id, channel_id, author_id, content) values (\$1, \$1 % 20000, \$1 % 5000, repeat('x', 100))"; from=$rows ;;
      newest_of_busy) sql="select * from $table where channel_id = 1 and id < \$1 + $rows order by id desc limit 50"; from=0 ;;
      newest_of_quiet) sql="select * from $table where channel_id = 2 + \$1 % 20000 and id < $rows order by id desc limit 50"; from=0 ;;
      by_id) sql="select * from $table where id = \$1"; from=0 ;;
      pinned) sql="select * from $table where channel_id = 2 + \$1 % 20000 and pinned = 1 order by id desc limit 50"; from=0 ;;
      by_author) sql="select id from $table where author_id = \$1 % 5000 and id > $rows - $rows / 100 limit 1"; from=0 ;;
    esac
    {
      echo "prepare q(bigint) as $sql;"
      i=0
      while [ $i -lt 20 ]; do echo "execute q($((from + i)));"; i=$((i + 1)); done
      echo "create temp table t as select spent_ms() as at;"
      while [ $i -lt 2020 ]; do echo "execute q($((from + i)));"; i=$((i + 1)); done
      echo "select round(cast((spent_ms() - at) * 1000 / 2000 as numeric), 1) from t;"
    } >"$work/run.sql"
    measure "$parts parts, $kind, us" "$work/run.sql"
  done
done
psql -qAtX "$GUILDHALL_TEST_POSTGRES" -c "drop schema partition_bench cascade" 2>/dev/null
