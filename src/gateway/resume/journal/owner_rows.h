/* owner_rows.h - the table session_homes, which says which node owns a session.
 *
 * In a cluster each session has one owner: the node that sends its events. A change of owner is a
 * compare-and-set of the row, so a session never has two owners. All functions but
 * session_owner_row_read run in a write transaction. */
#ifndef GATEWAY_RESUME_JOURNAL_OWNER_ROWS_H
#define GATEWAY_RESUME_JOURNAL_OWNER_ROWS_H

#include "json/schema.h"
#include "model/fields/ids.h"
#include "store/store.h"

struct session_owner {
    bool found;
    /* identity of the owner node; 0 if the session is suspended: any node may take it over */
    uint32_t identity;
    bool alive;
};

enum err session_owner_row_insert(struct tx *tx, uint64_t number, snowflake user_id,
                                  uint32_t identity);
enum err session_owner_row_delete(struct tx *tx, uint64_t number, uint32_t identity);
/* Changes the owner of a session from node `from` to node `to`. If `from` is not the owner, changes
 * nothing and sets *ret to false. */
enum err session_owner_row_compare_and_set(struct tx *tx, uint64_t number, uint32_t from,
                                           uint32_t to, bool *ret);
enum err session_owner_row_read(struct tx *tx, uint64_t number, snowflake user_id,
                                struct session_owner *ret);
/* Deletes expired suspended sessions, and the owner rows of dead nodes and of node `identity` (0
 * for none). The rows of a dead node stay in two cases: its identity is in with_journal, because
 * this node can read its journal; or it was first found missing less than grace_ms ago. */
enum err session_owner_rows_prune(struct tx *tx, uint32_t identity, const struct list *with_journal,
                                  int64_t grace_ms, int64_t now_ms);

#endif
