/* guilds.h - a session's guilds: what is read of them, and how they arrive. */
#ifndef GATEWAY_IDENTIFY_GUILDS_H
#define GATEWAY_IDENTIFY_GUILDS_H

#include "gateway/gateway.h"

struct hub;
struct seat;
struct session;

/* More than so many are not read on a loop. */
enum { MANY_GUILDS = 20, MANY_CHANNELS = 32 };

/* What is read to give a session a seat in a guild. */
struct guild_facts {
    snowflake guild_id;
    bool gone;       /* the guild, or the account from it */
    bool wants_view; /* the hub has none yet, or it is watched */
    bool lacks_view; /* the hub had none */
    struct guild guild;
    struct list channels;
    struct member member;
};

void guild_facts_begin(struct hub *h, snowflake guild_id, struct guild_facts *f);
/* payload: where the guild itself is written to, or NULL. */
enum err guild_facts_read(struct hub *h, struct tx *tx, const struct gateway_viewer *v,
                          struct json *payload, struct guild_facts *f);
/* Whether the hub's view does not go with what was read, which has to be read again: another look
 * that saw more was quicker to bring one, and what that shows and hides would not be told to who
 * was shown less (a server without a log cannot say which saw more); or the view that was there
 * went with the last session of the guild. */
bool guild_facts_outrun(const struct hub *h, const struct guild_facts *f);
/* Takes the seat, with facts that are not outrun; NULL when the guild or the member is gone. */
struct seat *guild_facts_apply(struct session *s, const struct guild_facts *f);

/* A session's account is in one more guild: looks before the next event. is_told: and tells it
 * of the guild. */
void guild_join(struct session *s, snowflake guild_id, bool is_told);
/* A bot's guilds, and those of a person that READY had no room for, come one after the
 * other. */
void arrival_begin(struct session *s, const struct list *guilds);

#endif
