/* upcalls.h - calls from sessions/ and fanout/ into folders above them.
 *
 * A folder of the gateway includes only headers of folders below it. A call in the other direction
 * goes through a table of functions in gateway.c. A loop makes only two such calls per event, so
 * they cost little. */
#ifndef GATEWAY_SESSIONS_UPCALLS_H
#define GATEWAY_SESSIONS_UPCALLS_H

#include "gateway/sessions/gateway_socket.h"
#include "gateway/wire/gateway_event.h"

struct gateway;
struct gateway_loop;
struct session;

struct gateway_upcall_functions {
    /* fanout/dispatch.h */
    void (*event_dispatch_begin)(struct gateway_loop *h, struct gateway_event *n);
    bool (*event_dispatch_continue)(struct gateway_loop *h);
    void (*dispatch_drop)(struct gateway_loop *h);
    /* fanout/unread_entries.h */
    void (*pass_unread_entry)(struct gateway_loop *h);
    void (*unread_entries_free)(struct gateway_loop *h);
    void (*unread_entries_retry)(struct deadline *d);
    /* presence/presence.h */
    void (*presence_change)(struct session *s, bool ending);
    void (*presence_window_ended)(struct deadline *d);
    void (*sessions_changed)(struct session *s);
    /* presence/directory.h */
    void (*directory_mark)(struct session *s);
    void (*directory_flush)(struct gateway_loop *h);
    void (*directory_end)(struct session *s);
    /* member_lists/lists.h */
    void (*lists_on_event)(struct gateway_loop *h, const struct gateway_event *n);
    void (*lists_on_presence)(struct gateway *g, snowflake guild_id, snowflake user_id);
    void (*lists_leave)(struct session *s, bool ends);
    void (*lists_free)(struct gateway_loop *h);
    /* identify/, resume/ */
    void (*guild_join)(struct session *s, snowflake guild_id, bool is_received);
    void (*moves_continue)(struct gateway_loop *h);
    void (*resume_request_retry)(struct deadline *d);
    /* opcodes/opcodes.h */
    const struct gateway_opcode_declaration *(*opcode_find)(int64_t op);
};

extern const struct gateway_upcall_functions gateway_upcalls;

#endif
