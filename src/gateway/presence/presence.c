/* presence.c - announces changes of presence to guilds and friends. */
#include "gateway/presence/presence.h"

#include "base/mem.h"
#include "gateway/fanout/bus.h"
#include "gateway/presence/directory.h"
#include "gateway/presence/looks.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/upcalls.h"
#include "gateway/views/topics.h"
#include "gateway/views/view.h"
#include "gateway/wire/news.h"
#include "gateway/wire/protocol.h"

static const char *const words[] = { "online", "idle", "dnd", "invisible" };

enum presence_status presence_status(struct opt_str word, enum presence_status fallback)
{
    if (word.given != GIVEN)
        return fallback;
    if (str_is(word.value, "offline"))
        return PRESENCE_INVISIBLE;
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (str_is(word.value, words[i]))
            return (enum presence_status)i;
    return fallback;
}

/* The kind is decided by the last word of the browser name: "… Client", "… Android", "Firefox". */
enum client_kind client_kind(const char *client)
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

const char *presence_word(enum presence_status status)
{
    return words[status];
}

static void publish_presence(struct gateway *g, snowflake user_id, struct subject to,
                             const struct presence_look *l)
{
    struct buf out;
    struct json j = json_to(&out);

    buf_init(&out, MAX_PAYLOAD);
    presence_write(user_id, false, to.kind == SUBJECT_GUILD ? to.id : 0, l, &j);
    struct news *n = news_new(EVENT_PRESENCE_UPDATE, to, buf_str(&out));
    n->facts = (struct facts){ .kind = FACTS_MEMBER, .member = { .user_id = user_id } };
    publish(g, n);
    buf_clear(&out);
}

/* In a large guild only bots with the intent GUILD_PRESENCES get presences. */
static bool is_watched(const struct gateway *g, const struct seat *seat)
{
    const struct guild_view *v = seat->topic->view;

    return (v && v->member_count <= SMALL_GUILD) || g->watchers;
}

static void tell_guild(struct gateway *g, const struct seat *seat, const struct presence_look *l)
{
    snowflake guild_id = seat->topic->id;

    if (is_watched(g, seat))
        publish_presence(g, seat->user_id, to_guild(guild_id), l);
    if (crowd_is_watched(&g->crowds, guild_id))
        gateway_upcalls.lists_hear_presence(g, guild_id, seat->user_id);
}

static void tell_guilds(struct session *s, const struct presence_look *l)
{
    for (uint32_t i = 0; i < s->seats.count; i++)
        if (s->seats.items[i]->topic->kind == SUBJECT_GUILD)
            tell_guild(s->hub->gateway, s->seats.items[i], l);
}

static bool is_there(struct gateway *g, snowflake user_id)
{
    pthread_mutex_lock(&g->lock);
    const struct account *a = map_get(&g->accounts, user_id);
    bool there = a && a->session_count;
    pthread_mutex_unlock(&g->lock);
    return there;
}

static void tell_friends(struct gateway *g, snowflake user_id, const struct list *friends,
                         const struct presence_look *l)
{
    const snowflake *ids = friends->items;

    for (size_t i = 0; i < friends->count; i++)
        if (is_there(g, ids[i]))
            publish_presence(g, user_id, to_user(ids[i]), l);
}

/* A presence change to announce to friends, who are read from the store first. */
struct telling {
    struct load load;
    snowflake user_id;
    uint32_t shard_id, shard_count;
    struct presence_look look;
    struct list friends;
};

static enum err read_friends(struct load *l, struct tx *tx)
{
    struct telling *t = container_of(l, struct telling, load);

    return l->hub->gateway->options.source->friends(tx, t->user_id, &t->friends);
}

/* A later change may overtake this announcement: friends must not end with the older status. */
static bool is_still_shown(struct gateway *g, const struct telling *t)
{
    bool still = t->look.statuses.whole == PRESENCE_INVISIBLE;

    pthread_mutex_lock(&g->lock);
    struct account *a = map_get(&g->accounts, t->user_id);
    if (a) {
        const struct shown_presence *shown = account_shown(a, t->shard_id, t->shard_count);

        still = memcmp(&shown->statuses, &t->look.statuses, sizeof shown->statuses) == 0 &&
                shown->activities == look_activities(&t->look);
    }
    pthread_mutex_unlock(&g->lock);
    return still;
}

static void friends_read(struct load *l, enum err e)
{
    struct telling *t = container_of(l, struct telling, load);

    if (!e && is_still_shown(l->hub->gateway, t)) {
        tell_friends(l->hub->gateway, t->user_id, &t->friends, &t->look);
        directory_flush(l->hub);
        directory_tell_friends(l->hub->gateway, t->user_id, &t->friends);
    }
    look_clear(&t->look);
    mem_free(t);
}

static struct among shard_of(const struct session *s)
{
    return (struct among){ ANY_KIND, s->options.shard_id, s->options.shard_count, NULL };
}

/* Computes the presence to announce. Returns false if it is unchanged. */
static bool take_look(struct session *s, bool ending, struct presence_look *ret)
{
    struct gateway *g = s->hub->gateway;
    struct among c = shard_of(s);

    c.but = ending ? s : NULL;
    pthread_mutex_lock(&g->lock);
    bool changed = look_show(map_get(&g->accounts, s->caller.id), &c, ret);
    /* Other loops that read presences because of this event must not count the ending session. */
    s->presence.faded |= ending;
    pthread_mutex_unlock(&g->lock);
    return changed;
}

void presence_recount(struct session *s)
{
    seats_show(&s->seats, session_is_ready(s) && !s->presence.faded &&
                              s->presence.status != PRESENCE_INVISIBLE);
}

void presence_begin(struct session *s, const struct list *friends)
{
    struct presence_look l;

    session_set_state(s, SESSION_LIVE);
    presence_recount(s);
    directory_note(s);
    if (!take_look(s, false, &l))
        return;
    tell_guilds(s, &l);
    if (friends) {
        tell_friends(s->hub->gateway, s->caller.id, friends, &l);
        directory_tell_friends(s->hub->gateway, s->caller.id, friends);
    }
    look_clear(&l);
}

void presence_change(struct session *s, bool ending)
{
    struct presence_look l;

    presence_recount(s);
    directory_mark(s);
    if (!session_is_ready(s) || s->hub->gateway->draining || !take_look(s, ending, &l))
        return;
    tell_guilds(s, &l);
    if (s->bot) {
        look_clear(&l);
        return;
    }
    struct telling *t = mem_new(sizeof *t);
    t->load = (struct load){ .run = read_friends, .done = friends_read };
    t->user_id = s->caller.id;
    t->shard_id = s->options.shard_id;
    t->shard_count = s->options.shard_count;
    t->look = l;
    hub_load_now(s->hub, &t->load);
}

void presence_arrive(struct session *s, snowflake guild_id)
{
    struct gateway *g = s->hub->gateway;
    const struct seat *seat = seat_find(&s->seats, SUBJECT_GUILD, guild_id);

    if (!seat || !session_is_ready(s) ||
        !(is_watched(g, seat) || crowd_is_watched(&g->crowds, guild_id)))
        return;
    pthread_mutex_lock(&g->lock);
    struct presence_look l = account_look(map_get(&g->accounts, s->caller.id), shard_of(s));
    pthread_mutex_unlock(&g->lock);
    if (l.statuses.whole != PRESENCE_INVISIBLE)
        tell_guild(g, seat, &l);
    look_clear(&l);
}

/* --- sessions of other nodes ---------------------------------------------------------- */

static void tell_guild_here(struct gateway *g, const struct remote_session *r, size_t i,
                            const struct presence_look *l)
{
    if (i < r->small_count || g->watchers)
        publish_presence(g, r->user_id, to_guild(r->guilds[i]), l);
    if (crowd_is_watched(&g->crowds, r->guilds[i]))
        gateway_upcalls.lists_hear_presence(g, r->guilds[i], r->user_id);
}

bool presence_remote_changed(struct gateway *g, const struct remote_session *r)
{
    struct among c = { ANY_KIND, r->shard_id, r->shard_count, NULL };
    struct presence_look l = { 0 };

    memset(&l.statuses, PRESENCE_INVISIBLE, sizeof l.statuses);
    pthread_mutex_lock(&g->lock);
    struct account *a = map_get(&g->accounts, r->user_id);
    /* An account without sessions has no announced presence to compare with. */
    bool changed = !a || look_show(a, &c, &l);
    pthread_mutex_unlock(&g->lock);
    if (!changed)
        return false;
    for (size_t i = 0; i < r->guild_count; i++)
        tell_guild_here(g, r, i, &l);
    look_clear(&l);
    return true;
}

void presence_tell_friends_here(struct gateway *g, snowflake user_id, const struct list *friends)
{
    pthread_mutex_lock(&g->lock);
    struct presence_look l =
        account_look(map_get(&g->accounts, user_id), (struct among){ .kind = ANY_KIND });
    pthread_mutex_unlock(&g->lock);
    tell_friends(g, user_id, friends, &l);
    look_clear(&l);
}
