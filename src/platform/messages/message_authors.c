/* message_authors.c - finds messages by author. On SQLite, new messages are added to the table
 * message_authors many at a time, because an index would add a page per author to each commit. The
 * view authored_messages has all messages, the view unfiled_messages those that are not in the
 * table yet. On PostgreSQL, which has an index, all three are views of messages. Late messages,
 * whose ids the job has passed, are added to the table and to message_unindexed at once. */
#include "platform/messages/internal.h"

enum { AT_ONCE = 1000 }; /* takes a few milliseconds, so that other writes do not wait long */

#define NEXT_UNFILED                                  \
    "from messages where id > (select filed_to from " \
    "message_author_progress) order by id limit $1"

static const char FILE_NEXT[] =
    "insert into message_authors (author_id, message_id) select author_id, id " NEXT_UNFILED;
static const char ADVANCE[] =
    "update message_author_progress set filed_to = coalesce((select max(id) from "
    "(select id " NEXT_UNFILED ") next), filed_to)";

enum err messages_file_authors(struct tx *tx, bool *ret_more)
{
    int64_t count = 0;
    enum err e =
        tx_queries_need_round_trips(tx) ? OK : tx_exec(tx, FILE_NEXT, BIND(v_int(AT_ONCE)), &count);

    *ret_more = count == AT_ONCE;
    return e || !count ? e : tx_exec(tx, ADVANCE, BIND(v_int(AT_ONCE)), NULL);
}

/* The greater one of the ids up to which messages were filed and indexed. */
static const char READ_PASSED_ID[] =
    "select max(filed_to, indexed_to) from message_author_progress, message_index_progress";
static const char FILE_LATE[] = "insert into message_authors (author_id, message_id) select $2, $1 "
                                "from message_author_progress where filed_to >= $1";
static const char QUEUE_LATE[] = "insert into message_unindexed (message_id, times) select $1, 1 "
                                 "from message_index_progress where indexed_to >= $1";

enum err message_add_to_indexes_if_late(struct tx *tx, const struct message *m)
{
    snowflake passed = 0;
    enum err e =
        tx_queries_need_round_trips(tx) ? OK : tx_read_id(tx, READ_PASSED_ID, NO_BIND, &passed);

    if (e || m->id > passed)
        return e;
    e = tx_exec(tx, FILE_LATE, BIND(v_id(m->id), v_id(m->author_id)), NULL);
    return e || m->ephemeral_for ? e : tx_exec(tx, QUEUE_LATE, BIND(v_id(m->id)), NULL);
}
