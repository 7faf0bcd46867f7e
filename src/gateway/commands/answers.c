/* answers.c - questions about guilds whose answer is short. */
#include <stdio.h>

#include "gateway/commands/opcodes.h"
#include "gateway/sessions/peer.h"
#include "gateway/sessions/session.h"
#include "gateway/views/topics.h"
#include "gateway/wire/messages.h"

static void answer_tell(struct session *s, enum event event, snowflake guild_id, const char *list)
{
    char payload[96];

    if (!seat_find(&s->seats, SUBJECT_GUILD, guild_id))
        return;
    int n = snprintf(payload, sizeof payload, "{\"guild_id\":\"%llu\",\"%s\":[]}",
                     (unsigned long long)guild_id, list);
    session_tell(s, event, str_slice(payload, (size_t)n));
}

/* op 31: nobody has uploaded sounds. */
void handle_request_sounds(struct peer *p, int op, struct str raw, const void *d)
{
    const struct request_sounds *in = d;
    const snowflake *ids = in->guild_ids.items;

    (void)op, (void)raw;
    for (size_t i = 0; i < in->guild_ids.count; i++)
        answer_tell(p->session, EVENT_SOUNDBOARD_SOUNDS, ids[i], "soundboard_sounds");
}

/* op 36 and 43: channels that have something to tell; none has, yet. */
void handle_channel_info(struct peer *p, int op, struct str raw, const void *d)
{
    const struct channel_info *in = d;

    (void)raw;
    answer_tell(p->session, op == OP_CHANNEL_INFO ? EVENT_CHANNEL_INFO : EVENT_CHANNEL_STATUSES,
                in->guild_id, "channels");
}
