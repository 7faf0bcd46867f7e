/* status.c - whether somebody is there, for those who ask from outside the gateway. */
#include "base/mem.h"
#include "gateway/presence.h"

/* Of several sessions the most telling one counts. */
static const struct {
    enum presence_status status;
    const char *word;
} ranks[] = {
    { PRESENCE_DND, "dnd" },
    { PRESENCE_ONLINE, "online" },
    { PRESENCE_IDLE, "idle" },
};

static bool has_session(const struct account *a, enum presence_status status)
{
    for (const struct link *at = a->sessions.next; at != &a->sessions; at = at->next)
        if (container_of(at, const struct session, of_user)->status == status)
            return true;
    return false;
}

const char *gateway_status(struct gateway *g, snowflake user_id)
{
    const char *word = NULL;

    pthread_mutex_lock(&g->lock);
    const struct account *a = map_get(&g->accounts, user_id);
    for (size_t i = 0; a && !word && i < COUNT_OF(ranks); i++)
        if (has_session(a, ranks[i].status))
            word = ranks[i].word;
    pthread_mutex_unlock(&g->lock);
    return word;
}
