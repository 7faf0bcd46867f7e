/* presence.c - announces changes of presence to guilds and friends. */
#include "gateway/presence/presence.h"

#include "base/mem.h"
#include "gateway/fanout/event_bus.h"
#include "gateway/presence/directory.h"
#include "gateway/presence/account_presence.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/upcalls.h"
#include "gateway/subscriptions/topics.h"
#include "gateway/subscriptions/guild_view.h"
#include "gateway/wire/gateway_event.h"
#include "gateway/wire/protocol.h"

static const char *const status_names[] = { "online", "idle", "dnd", "invisible" };

enum presence_status parse_presence_status(struct opt_str word, enum presence_status fallback)
{
    if (word.given != GIVEN)
        return fallback;
    if (str_is(word.value, "offline"))
        return PRESENCE_INVISIBLE;
    for (size_t i = 0; i < COUNT_OF(status_names); i++)
        if (str_is(word.value, status_names[i]))
            return (enum presence_status)i;
    return fallback;
}

/* Derives the kind of client from the last word of its browser: "… Client", "… Android". */
enum client_kind client_kind_from_client_name(const char *client)
{
    static const struct {
        const char *word;
        enum client_kind kind;
    } rows[] = {
        { "Client", CLIENT_DESKTOP },
        { "Android", CLIENT_MOBILE },
        { "iOS", CLIENT_MOBILE },
    };
    struct str rest = str_of(client), word = { 0 };

    str_cut(&rest, '|');
    for (struct str browser = str_cut(&rest, '|'); browser.n;)
        word = str_cut(&browser, ' ');
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (str_is(word, rows[i].word))
            return rows[i].kind;
    return CLIENT_WEB;
}

const char *presence_status_name(enum presence_status status)
{
    return status_names[status];
}

static void publish_presence(struct gateway *g, snowflake user_id, struct audience to,
                             const struct account_presence *l)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, MAX_PAYLOAD);
    write_presence_json(user_id, false, to.kind == AUDIENCE_GUILD ? to.id : 0, l, &j);
    struct gateway_event *n = gateway_event_new(EVENT_PRESENCE_UPDATE, to, buf_as_str(&out));
    n->routing = (struct event_routing){ .kind = ROUTING_MEMBER, .member = { .user_id = user_id } };
    publish_event_to_loops(g, n);
    buf_clear(&out);
}

/* Returns whether the guild has sessions to which presences must be sent. In a large guild only
 * bots with the intent GUILD_PRESENCES receive presences. */
static bool guild_receives_presence(const struct gateway *g, const struct topic_subscription *seat)
{
    const struct guild_view *v = seat->topic->view;

    return (v && v->member_count <= SMALL_GUILD_MEMBERS) || g->presence_bots;
}

static void publish_presence_to_guild(struct gateway *g, const struct topic_subscription *seat,
                                      const struct account_presence *l)
{
    snowflake guild_id = seat->topic->id;

    if (guild_receives_presence(g, seat))
        publish_presence(g, seat->user_id, audience_of_guild(guild_id), l);
    if (guild_has_member_lists(&g->online_members, guild_id))
        gateway_upcalls.lists_on_presence(g, guild_id, seat->user_id);
}

static void publish_presence_to_guilds(struct session *s, const struct account_presence *l)
{
    for (uint32_t i = 0; i < s->subscriptions.count; i++)
        if (s->subscriptions.items[i]->topic->kind == AUDIENCE_GUILD)
            publish_presence_to_guild(s->gateway_loop->gateway, s->subscriptions.items[i], l);
}

static void publish_presence_to_friends(struct gateway *g, snowflake user_id,
                                        const struct list *friends,
                                        const struct account_presence *l)
{
    const snowflake *ids = friends->items;

    pthread_mutex_lock(&g->lock);
    for (size_t i = 0; i < friends->count; i++) {
        const struct gateway_account *a = map_find_value(&g->accounts, ids[i]);

        if (!a || !a->session_count)
            continue;
        pthread_mutex_unlock(&g->lock);
        publish_presence(g, user_id, audience_of_user(ids[i]), l);
        pthread_mutex_lock(&g->lock);
    }
    pthread_mutex_unlock(&g->lock);
}

/* A changed presence of an account, which is announced to the account's friends after they were
 * read from the store. */
struct friends_announcement {
    struct session_store_read store_read;
    snowflake user_id;
    uint32_t shard_id, shard_count;
    struct account_presence presence;
    struct list friends;
};

static enum err read_account_friends(struct session_store_read *l, struct tx *tx)
{
    struct friends_announcement *t = container_of(l, struct friends_announcement, store_read);

    return l->gateway_loop->gateway->options.source->friends(tx, t->user_id, &t->friends);
}

/* Returns whether the presence was not changed again while the friends were read. Otherwise a later
 * announcement sends the new presence. */
static bool announced_presence_is_current(struct gateway *g, const struct friends_announcement *t)
{
    bool still = t->presence.statuses.whole == PRESENCE_INVISIBLE;

    pthread_mutex_lock(&g->lock);
    struct gateway_account *a = map_find_value(&g->accounts, t->user_id);
    if (a) {
        const struct announced_presence *shown =
            account_get_announced_presence(a, t->shard_id, t->shard_count);

        still = memcmp(&shown->statuses, &t->presence.statuses, sizeof shown->statuses) == 0 &&
                shown->activities == account_presence_activities_hash(&t->presence);
    }
    pthread_mutex_unlock(&g->lock);
    return still;
}

static void on_account_friends_read(struct session_store_read *l, enum err e)
{
    struct friends_announcement *t = container_of(l, struct friends_announcement, store_read);

    if (!e && announced_presence_is_current(l->gateway_loop->gateway, t)) {
        publish_presence_to_friends(l->gateway_loop->gateway, t->user_id, &t->friends,
                                    &t->presence);
        session_directory_publish_changed_sessions(l->gateway_loop);
        session_directory_publish_friend_ids(l->gateway_loop->gateway, t->user_id, &t->friends);
    }
    account_presence_clear(&t->presence);
    mem_free(t);
}

static struct presence_session_filter create_filter_of_session_shard(const struct session *s)
{
    return (struct presence_session_filter){ ANY_CLIENT_KIND, s->options.shard_id,
                                             s->options.shard_count, NULL };
}

/* Computes the presence of the session's account. Returns false if it equals the last announced
 * one. */
static bool update_announced_presence(struct session *s, bool ending, struct account_presence *ret)
{
    struct gateway *g = s->gateway_loop->gateway;
    struct presence_session_filter c = create_filter_of_session_shard(s);

    c.but = ending ? s : NULL;
    pthread_mutex_lock(&g->lock);
    bool changed =
        account_update_announced_presence(map_find_value(&g->accounts, s->caller.id), &c, ret);
    /* Mark the ending session as offline before the change is published, because other loops then
     * compute presences from all sessions. */
    s->presence.shown_offline |= ending;
    pthread_mutex_unlock(&g->lock);
    return changed;
}

void presence_update_online_members(struct session *s)
{
    session_set_counts_as_online(&s->subscriptions, session_is_ready(s) &&
                                                        !s->presence.shown_offline &&
                                                        s->presence.status != PRESENCE_INVISIBLE);
}

void presence_on_session_begin(struct session *s, const struct list *friends)
{
    struct account_presence l;

    session_set_state(s, SESSION_LIVE);
    presence_update_online_members(s);
    session_directory_publish_session(s);
    if (!update_announced_presence(s, false, &l))
        return;
    publish_presence_to_guilds(s, &l);
    if (friends) {
        publish_presence_to_friends(s->gateway_loop->gateway, s->caller.id, friends, &l);
        session_directory_publish_friend_ids(s->gateway_loop->gateway, s->caller.id, friends);
    }
    account_presence_clear(&l);
}

void presence_on_session_change(struct session *s, bool ending)
{
    struct account_presence l;

    presence_update_online_members(s);
    session_directory_mark_session_changed(s);
    if (!session_is_ready(s) || s->gateway_loop->gateway->draining ||
        !update_announced_presence(s, ending, &l))
        return;
    publish_presence_to_guilds(s, &l);
    if (s->bot) {
        account_presence_clear(&l);
        return;
    }
    struct friends_announcement *t = mem_new(sizeof *t);
    t->store_read =
        (struct session_store_read){ .run = read_account_friends, .done = on_account_friends_read };
    t->user_id = s->caller.id;
    t->shard_id = s->options.shard_id;
    t->shard_count = s->options.shard_count;
    t->presence = l;
    begin_unordered_session_store_read(s->gateway_loop, &t->store_read);
}

void presence_announce_to_guild(struct session *s, snowflake guild_id)
{
    struct gateway *g = s->gateway_loop->gateway;
    const struct topic_subscription *seat =
        session_subscription_find(&s->subscriptions, AUDIENCE_GUILD, guild_id);

    if (!seat || !session_is_ready(s) ||
        !(guild_receives_presence(g, seat) || guild_has_member_lists(&g->online_members, guild_id)))
        return;
    pthread_mutex_lock(&g->lock);
    struct account_presence l = account_compute_presence(map_find_value(&g->accounts, s->caller.id),
                                                         create_filter_of_session_shard(s));
    pthread_mutex_unlock(&g->lock);
    if (l.statuses.whole != PRESENCE_INVISIBLE)
        publish_presence_to_guild(g, seat, &l);
    account_presence_clear(&l);
}

/* --- sessions of other nodes ---------------------------------------------------------- */

static void publish_remote_presence_to_guild(struct gateway *g, const struct remote_session *r,
                                             size_t i, const struct account_presence *l)
{
    if (i < r->small_count || g->presence_bots)
        publish_presence(g, r->user_id, audience_of_guild(r->guilds[i]), l);
    if (guild_has_member_lists(&g->online_members, r->guilds[i]))
        gateway_upcalls.lists_on_presence(g, r->guilds[i], r->user_id);
}

bool presence_on_remote_session_change(struct gateway *g, const struct remote_session *r)
{
    struct presence_session_filter c = { ANY_CLIENT_KIND, r->shard_id, r->shard_count, NULL };
    struct account_presence l = { 0 };

    memset(&l.statuses, PRESENCE_INVISIBLE, sizeof l.statuses);
    pthread_mutex_lock(&g->lock);
    struct gateway_account *a = map_find_value(&g->accounts, r->user_id);
    /* Treat the presence as changed if the account is not known, because then there is no announced
     * presence to compare with. */
    bool changed = !a || account_update_announced_presence(a, &c, &l);
    pthread_mutex_unlock(&g->lock);
    if (!changed)
        return false;
    for (size_t i = 0; i < r->guild_count; i++)
        publish_remote_presence_to_guild(g, r, i, &l);
    account_presence_clear(&l);
    return true;
}

void presence_publish_to_local_friends(struct gateway *g, snowflake user_id,
                                       const struct list *friends)
{
    pthread_mutex_lock(&g->lock);
    struct account_presence l =
        account_compute_presence(map_find_value(&g->accounts, user_id),
                                 (struct presence_session_filter){ .kind = ANY_CLIENT_KIND });
    pthread_mutex_unlock(&g->lock);
    publish_presence_to_friends(g, user_id, friends, &l);
    account_presence_clear(&l);
}
