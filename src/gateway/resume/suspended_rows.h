/* suspended_rows.h - the table parked_sessions: serialised sessions without an owner node.
 *
 * Rows are written when a server stops, and when a node releases a session to another node. All
 * functions run in a write transaction. */
#ifndef GATEWAY_RESUME_SUSPENDED_ROWS_H
#define GATEWAY_RESUME_SUSPENDED_ROWS_H

#include "base/snowflake.h"
#include "store/store.h"

struct suspended_session {
    uint64_t number;
    snowflake user_id;
    int64_t until_ms;
    struct str body; /* serialised session (session_serialization.h) */
};

/* Deletes one batch of suspended sessions. Sets *ret_more to whether more rows exist. */
enum err suspended_session_rows_delete_batch(struct tx *tx, bool *ret_more);
enum err suspended_session_row_insert(struct tx *tx, const struct suspended_session *p);
/* Marks the suspended rows as complete. Without a cluster, a server that stops calls this after it
 * has written all rows. The next server may use the rows only if the mark exists, because it proves
 * that no event was published after the rows were written. */
enum err suspended_session_rows_mark_complete(struct tx *tx);
enum err suspended_session_rows_delete_complete_mark(struct tx *tx, bool *ret_any);
/* Reads a suspended session into *ret and deletes its row. Without a row, *ret is unchanged. */
enum err suspended_session_row_read_and_delete(struct tx *tx, uint64_t number, snowflake user_id,
                                               int64_t now_ms, struct str *ret);

#endif
