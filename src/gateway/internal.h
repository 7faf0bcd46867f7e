/* internal.h - what the files of gateway/ share.
 *
 *   gateway   one a process: options, who has which session
 *   hub       one a loop: its sockets, sessions, subjects and the events that come
 *   peer      a socket and how it is spoken to
 *   session   who is told, and what was already; outlives its sockets
 *   topic     a subject and the sessions that listen to it
 *   seat      a session's place in a topic */
#ifndef GATEWAY_INTERNAL_H
#define GATEWAY_INTERNAL_H

#include "gateway/bus.h"
#include "gateway/errands.h"
#include "gateway/hub.h"
#include "gateway/peer.h"
#include "gateway/registry.h"
#include "gateway/session.h"
#include "gateway/topics.h"

/* --- opcodes -------------------------------------------------------------------------- */

enum opcode_flags {
    OP_STRANGERS = 1, /* also before it has said who it is */
    OP_USERS = 2,     /* bots: ignored */
    OP_BEAT = 4,      /* counts as a heartbeat */
};

struct opcode_row {
    int op;
    const char *name;
    unsigned flags;
    const struct type *type; /* of d; NULL: anything */
    void (*handle)(struct peer *p, int op, struct str raw, const void *d);
};

const struct opcode_row *opcode_find(int64_t op); /* NULL: unknown */
extern const struct opcode_row opcode_rows[];     /* for tests; ends with .name == NULL */

void handle_request_members(struct peer *p, int op, struct str raw, const void *d);
void handle_search_recent(struct peer *p, int op, struct str raw, const void *d);
void handle_presence(struct peer *p, int op, struct str raw, const void *d);
void handle_request_sounds(struct peer *p, int op, struct str raw, const void *d);
void handle_channel_info(struct peer *p, int op, struct str raw, const void *d);

/* --- greeting ------------------------------------------------------------------------- */

void handle_identify(struct peer *p, int op, struct str raw, const void *d);
void handle_resume(struct peer *p, int op, struct str raw, const void *d);
void greeting_abandon(struct greeting *g); /* its socket is gone */
void session_invalid(struct peer *p);      /* op 9 */
/* The same from the loop itself, for those who are in the middle of an event: a session
 * that ends takes its seats and their topics away. */
void session_invalid_soon(struct hub *h, uint64_t number);

/* --- guilds of a session -------------------------------------------------------------- */

/* More than so many are not read on a loop. */
enum { MANY_GUILDS = 20, MANY_CHANNELS = 32 };

/* What is read to give a session a seat in a guild. */
struct guild_facts {
    snowflake guild_id;
    bool gone;       /* the guild, or the account from it */
    bool wants_view; /* the hub has none yet */
    struct guild guild;
    struct list channels;
    struct member member;
};

void guild_facts_begin(struct hub *h, snowflake guild_id, struct guild_facts *f);
/* payload: where the guild itself is written to, or NULL. */
enum err guild_facts_read(struct hub *h, struct tx *tx, const struct gateway_viewer *v,
                          struct json *payload, struct guild_facts *f);
/* Takes the seat; NULL when the guild or the member is gone. */
struct seat *guild_facts_apply(struct session *s, const struct guild_facts *f);

/* A session's account is in one more guild: looks before the next event. */
void guild_join(struct session *s, snowflake guild_id);
/* A bot's guilds, and those of a person that READY had no room for, come one after the
 * other. */
void arrival_begin(struct session *s, const struct list *guilds);

#endif
