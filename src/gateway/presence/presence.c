/* presence.c - what others see of somebody's sessions. */
#include "gateway/presence/presence.h"

#include "base/hash.h"
#include "base/mem.h"
#include "gateway/fanout/bus.h"
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

/* By the last word of what it calls itself: "… Client", "… Android", "Firefox". */
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

/* --- what is seen of an account ------------------------------------------------------- */

/* What its sessions are together; a bot's shards are seen apart. */
struct presence_look {
    struct statuses statuses;
    struct str activities; /* on the heap; p == NULL: none */
};

/* An account has the first of these that one of its sessions has. */
static const unsigned char order[] = { PRESENCE_DND, PRESENCE_ONLINE, PRESENCE_IDLE };

/* Which sessions of an account are looked at. */
struct among {
    const struct session *like; /* those of its shard; NULL: all */
    const struct session *but;  /* not this one */
    int kind;                   /* enum client_kind, or ANY_KIND */
};

enum { ANY_KIND = -1 };

static bool presence_counts(const struct session *s, const struct among *c)
{
    return s != c->but && !s->faded && s->ready && (c->kind == ANY_KIND || s->kind == c->kind) &&
           (!c->like ||
            (s->shard_id == c->like->shard_id && s->shard_count == c->like->shard_count));
}

/* With the lock held. */
static const struct session *presence_foremost(const struct account *a, struct among c)
{
    for (size_t i = 0; a && i < COUNT_OF(order); i++)
        for (const struct link *at = a->sessions.next; at != &a->sessions; at = at->next) {
            const struct session *s = container_of(at, const struct session, of_user);

            if (s->status == order[i] && presence_counts(s, &c))
                return s;
        }
    return NULL;
}

static const struct session *foremost_of_all(const struct account *a)
{
    return presence_foremost(a, (struct among){ .kind = ANY_KIND });
}

static unsigned char status_of(const struct session *s)
{
    return s ? s->status : PRESENCE_INVISIBLE;
}

/* With the lock held. */
static struct statuses statuses_of(const struct account *a, struct among c)
{
    struct statuses all = { .whole = status_of(presence_foremost(a, c)) };

    for (c.kind = 0; c.kind < CLIENT_KINDS; c.kind++)
        all.of[c.kind] = status_of(presence_foremost(a, c));
    return all;
}

/* With the lock held. */
static struct presence_look look_at(const struct account *a, struct among c)
{
    const struct session *s = presence_foremost(a, c);
    struct presence_look l = { .statuses = statuses_of(a, c) };

    if (s && s->presence.p) {
        char *copy = mem_resize(NULL, s->presence.n);

        memcpy(copy, s->presence.p, s->presence.n);
        l.activities = str_slice(copy, s->presence.n);
    }
    return l;
}

static uint64_t activities_hash(const struct presence_look *l)
{
    return l->activities.n ? hash_str(l->activities) : 0;
}

static void look_clear(struct presence_look *l)
{
    mem_free((void *)(uintptr_t)l->activities.p);
}

static void write_kinds(const struct statuses *all, struct json *j)
{
    static const char *const names[] = { "desktop", "mobile", "web" };

    json_object(j);
    for (int i = 0; i < CLIENT_KINDS; i++)
        if (all->of[i] != PRESENCE_INVISIBLE) {
            json_key_text(j, str_of(names[i]));
            json_text(j, str_of(words[all->of[i]]));
        }
    json_object_end(j);
}

static void write_whose(snowflake user_id, bool referring, struct json *j)
{
    if (referring) {
        json_name(j, "user_id");
        json_id(j, user_id);
        return;
    }
    json_name(j, "user");
    json_object(j);
    json_name(j, "id");
    json_id(j, user_id);
    json_object_end(j);
}

static void write_presence(snowflake user_id, bool referring, snowflake guild_id,
                           const struct presence_look *l, struct json *j)
{
    bool seen = l->statuses.whole != PRESENCE_INVISIBLE;
    struct str status = seen ? str_of(words[l->statuses.whole]) : STR("offline");

    json_object(j);
    write_whose(user_id, referring, j);
    if (guild_id) {
        json_name(j, "guild_id");
        json_id(j, guild_id);
    }
    json_name(j, "status");
    json_text(j, status);
    json_name(j, "activities");
    json_raw(j, seen && l->activities.p ? l->activities : STR("[]"));
    json_name(j, "client_status");
    write_kinds(&l->statuses, j);
    json_object_end(j);
}

const char *gateway_status(struct gateway *g, snowflake user_id, struct json *kinds)
{
    pthread_mutex_lock(&g->lock);
    struct statuses all =
        statuses_of(map_get(&g->accounts, user_id), (struct among){ .kind = ANY_KIND });
    pthread_mutex_unlock(&g->lock);
    if (kinds)
        write_kinds(&all, kinds);
    return all.whole == PRESENCE_INVISIBLE ? NULL : words[all.whole];
}

void gateway_presences(struct gateway *g, snowflake guild_id, const struct list *ids,
                       bool referring, struct json *j)
{
    json_array(j);
    pthread_mutex_lock(&g->lock);
    for (size_t i = 0; i < ids->count; i++) {
        snowflake id = ((const snowflake *)ids->items)[i];
        struct presence_look l =
            look_at(map_get(&g->accounts, id), (struct among){ .kind = ANY_KIND });

        if (l.statuses.whole != PRESENCE_INVISIBLE)
            write_presence(id, referring, guild_id, &l, j);
        look_clear(&l);
    }
    pthread_mutex_unlock(&g->lock);
    json_array_end(j);
}

void gateway_presence(struct gateway *g, snowflake user_id, struct json *j)
{
    pthread_mutex_lock(&g->lock);
    struct presence_look l =
        look_at(map_get(&g->accounts, user_id), (struct among){ .kind = ANY_KIND });
    pthread_mutex_unlock(&g->lock);
    write_presence(user_id, false, 0, &l, j);
    look_clear(&l);
}

void gateway_keep_seen(struct gateway *g, struct list *ids, size_t max)
{
    snowflake *all = ids->items;
    size_t n = 0;

    pthread_mutex_lock(&g->lock);
    for (size_t i = 0; i < ids->count && n < max; i++)
        if (foremost_of_all(map_get(&g->accounts, all[i])))
            all[n++] = all[i];
    pthread_mutex_unlock(&g->lock);
    ids->count = n;
}

/* --- telling -------------------------------------------------------------------------- */

static void publish_presence(struct gateway *g, snowflake user_id, struct subject to,
                             const struct presence_look *l)
{
    struct buf out;
    struct json j = json_to(&out);

    buf_init(&out, MAX_PAYLOAD);
    write_presence(user_id, false, to.kind == SUBJECT_GUILD ? to.id : 0, l, &j);
    struct news *n = news_new(EVENT_PRESENCE_UPDATE, to, buf_str(&out));
    n->facts = (struct facts){ .kind = FACTS_MEMBER, .member = { .user_id = user_id } };
    publish(g, n);
    buf_clear(&out);
}

/* In a large guild only bots that asked for it are told; often there is none. */
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

/* A change that friends are told of when the store has said who they are. */
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

/* A later change has a telling of its own, which may overtake this one: friends must not be left
 * with the older status. */
static bool is_still_shown(struct gateway *g, const struct telling *t)
{
    bool still = t->look.statuses.whole == PRESENCE_INVISIBLE;

    pthread_mutex_lock(&g->lock);
    struct account *a = map_get(&g->accounts, t->user_id);
    if (a) {
        const struct shown_presence *shown = account_shown(a, t->shard_id, t->shard_count);

        still = memcmp(&shown->statuses, &t->look.statuses, sizeof shown->statuses) == 0 &&
                shown->activities == activities_hash(&t->look);
    }
    pthread_mutex_unlock(&g->lock);
    return still;
}

static void friends_read(struct load *l, enum err e)
{
    struct telling *t = container_of(l, struct telling, load);

    if (!e && is_still_shown(l->hub->gateway, t))
        tell_friends(l->hub->gateway, t->user_id, &t->friends, &t->look);
    look_clear(&t->look);
    mem_free(t);
}

/* --- changes -------------------------------------------------------------------------- */

/* What others see now; false: nothing else than before. */
static bool take_look(struct session *s, bool ending, struct presence_look *ret)
{
    struct gateway *g = s->hub->gateway;

    pthread_mutex_lock(&g->lock);
    struct account *a = map_get(&g->accounts, s->caller.id);
    struct presence_look now = look_at(a, (struct among){ s, ending ? s : NULL, ANY_KIND });
    struct shown_presence *shown = account_shown(a, s->shard_id, s->shard_count);
    uint64_t hash = activities_hash(&now);
    bool changed = memcmp(&shown->statuses, &now.statuses, sizeof now.statuses) != 0 ||
                   shown->activities != hash;
    shown->statuses = now.statuses;
    shown->activities = hash;
    /* Whoever looks because of what is told now, on another loop, must not see it any more. */
    s->faded |= ending;
    if (changed)
        *ret = now;
    else
        look_clear(&now);
    pthread_mutex_unlock(&g->lock);
    return changed;
}

void presence_recount(struct session *s)
{
    seats_show(&s->seats, s->ready && !s->faded && s->status != PRESENCE_INVISIBLE);
}

void presence_begin(struct session *s, const struct list *friends)
{
    struct presence_look l;

    pthread_mutex_lock(&s->hub->gateway->lock);
    s->ready = true;
    pthread_mutex_unlock(&s->hub->gateway->lock);
    presence_recount(s);
    if (!take_look(s, false, &l))
        return;
    tell_guilds(s, &l);
    if (friends)
        tell_friends(s->hub->gateway, s->caller.id, friends, &l);
    look_clear(&l);
}

void presence_change(struct session *s, bool ending)
{
    struct presence_look l;

    presence_recount(s);
    if (!s->ready || s->hub->gateway->draining || !take_look(s, ending, &l))
        return;
    tell_guilds(s, &l);
    if (s->bot) {
        look_clear(&l);
        return;
    }
    struct telling *t = mem_new(sizeof *t);
    t->load = (struct load){ .run = read_friends, .done = friends_read };
    t->user_id = s->caller.id;
    t->shard_id = s->shard_id;
    t->shard_count = s->shard_count;
    t->look = l;
    hub_load_now(s->hub, &t->load);
}

void presence_arrive(struct session *s, snowflake guild_id)
{
    struct gateway *g = s->hub->gateway;
    const struct seat *seat = seat_find(&s->seats, SUBJECT_GUILD, guild_id);

    if (!seat || !s->ready || !(is_watched(g, seat) || crowd_is_watched(&g->crowds, guild_id)))
        return;
    pthread_mutex_lock(&g->lock);
    struct presence_look l =
        look_at(map_get(&g->accounts, s->caller.id), (struct among){ s, NULL, ANY_KIND });
    pthread_mutex_unlock(&g->lock);
    if (l.statuses.whole != PRESENCE_INVISIBLE)
        tell_guild(g, seat, &l);
    look_clear(&l);
}
