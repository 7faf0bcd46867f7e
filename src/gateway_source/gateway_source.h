/* gateway_source.h - the platform's side of the gateway. */
#ifndef GATEWAY_SOURCE_GATEWAY_SOURCE_H
#define GATEWAY_SOURCE_GATEWAY_SOURCE_H

#include "api/hooks.h"
#include "gateway/gateway.h"

extern const struct gateway_source gateway_source;

extern const struct domain gateway_addresses_domain; /* /gateway, /gateway/bot */

/* What READY says about an account. */
enum err gateway_ready(struct tx *tx, const struct gateway_viewer *v, struct json *out);
/* A guild, as struct gateway_source has it. */
enum err gateway_guild(struct tx *tx, const struct member *m, const struct gateway_viewer *v,
                       struct json *out);

/* Open threads that somebody sees, of the channels that sync names or of all; and who is in a
 * thread. As struct gateway_source has them. */
enum err gateway_threads(struct tx *tx, snowflake user_id, struct thread_list_sync *sync);
enum err gateway_thread_people(struct tx *tx, struct gateway *g, snowflake guild_id,
                               snowflake thread_id, snowflake viewer, struct list *ret);

/* --- a guild with all that is in it ---------------------------------------------------- */

/* Everything about a guild as the gateway shows it to a member. Of a read, valid until the
 * next one. */
struct guild_look {
    snowflake guild_id;
    const struct member *member; /* with its roles */
    const struct user *user;
    int64_t listed_up_to; /* with more members only the viewer and who is in voice are listed */
    bool writes_people;   /* everybody who is listed comes written out, … */
    bool refers;          /* … one by one */
};
enum { GUILD_LISTED = 250 }; /* up to here people see everybody */
enum err guild_look(struct tx *tx, const struct guild_look *look, struct gateway_guild *ret);
/* The same for one whose sessions are not known. ERR_MISSING_ACCESS: not a member. */
enum err guild_for_gateway(struct tx *tx, snowflake guild_id, snowflake viewer,
                           struct gateway_guild *ret);
/* A member that has just come is shown its guild: GUILD_CREATE. Of one that takes long to read
 * it is announced with nothing but the id (fanout/dispatch.c). */
enum err gateway_show_newcomer(struct call *call, const struct member *m);

/* What a guild consists of. To be looked at, not changed, until the next one is read. */
struct guild_parts {
    struct guild guild;            /* with its roles */
    struct list channels, threads; /* struct channel; threads that are not archived */
    struct list sounds; /* of guild_whole, which has the guild's emoji and stickers too … */
    const struct written_guild *written; /* … and all of it as text, where it is kept; or NULL */
};
enum err guild_parts(struct tx *tx, snowflake guild_id, struct guild_parts *ret);
enum err guild_whole(struct tx *tx, snowflake guild_id, struct guild_parts *ret);

#endif
