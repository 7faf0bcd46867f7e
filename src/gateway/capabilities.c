/* capabilities.c - READY in the forms that newer clients of people ask for.
 *
 * Everything is made from the text of the plain READY, member by member, so that what
 * goes into READY is written in one form only. */
#include "gateway/capabilities.h"

#include "base/map.h"
#include "base/mem.h"
#include "json/read.h"
#include "json/write.h"

enum { LARGEST = 64 * 1024 * 1024 };

/* What is taken out of its place, as lists that are still open. */
struct shape {
    int64_t bits;
    snowflake own;
    struct arena *arena;
    struct map known; /* users that stand in the list already */
    struct buf users, merged, merged_more, presences, friends, guilds;
    bool bad;
};

bool capabilities_supplement(int64_t capabilities)
{
    return capabilities & CAPABILITY_USERS && capabilities & CAPABILITY_SUPPLEMENTAL;
}

/* --- reading -------------------------------------------------------------------------- */

static bool begin(struct shape *s, struct json_reader *r, struct str text)
{
    json_reader_init(r, text, s->arena);
    if (json_peek(r) != JSON_OBJECT && json_peek(r) != JSON_ARRAY) {
        s->bad = true;
        return false;
    }
    json_enter(r);
    return true;
}

/* A reader counts values against attacks; these are our own, and may be many. */
static struct str value_of(struct shape *s, struct json_reader *r)
{
    struct str raw = STR("null");

    r->values = 0;
    if (!json_skip(r, &raw))
        s->bad = true;
    return raw;
}

/* *ret_named: is it more than an id? */
static snowflake id_and_name_in(struct shape *s, struct str object, bool *ret_named)
{
    struct json_reader r;
    struct str key;
    uint64_t id = 0;

    *ret_named = false;
    if (!begin(s, &r, object))
        return 0;
    while (json_next_member(&r, &key)) {
        struct str raw = value_of(s, &r);

        *ret_named |= str_is(key, "username");
        if (str_is(key, "id") && raw.n > 2)
            str_to_u64(str_slice(raw.p + 1, raw.n - 2), &id);
    }
    return id;
}

static snowflake id_in(struct shape *s, struct str object)
{
    bool named;

    return id_and_name_in(s, object, &named);
}

/* --- writing -------------------------------------------------------------------------- */

static void add_item(struct buf *list, struct str raw)
{
    if (list->n && list->p[list->n - 1] != '[')
        buf_add_char(list, ',');
    buf_add_str(list, raw);
}

static void raw_member(struct json *out, const char *name, struct buf *list)
{
    json_key(out, str_of(name));
    buf_add_char(list, ']');
    json_raw(out, buf_str(list));
}

/* Puts a user into the list of all, once; its id. Presences name people by their id alone:
 * whoever is seen is a friend or a member as well, and whole there. */
static snowflake refer_to(struct shape *s, struct str user)
{
    bool named;
    snowflake id = id_and_name_in(s, user, &named);

    if (id && named && !map_put(&s->known, id, s))
        add_item(&s->users, user);
    return id;
}

/* An object with "user_id" in the place of "user"; whose it is. */
static snowflake write_referring(struct shape *s, struct str object, struct json *out)
{
    struct json_reader r;
    snowflake id = 0;
    struct str key;
    bool has_id = false;

    if (!begin(s, &r, object))
        return 0;
    json_object(out);
    while (json_next_member(&r, &key)) {
        struct str raw = value_of(s, &r);

        if (str_is(key, "user") && raw.n && raw.p[0] == '{') {
            id = refer_to(s, raw);
            continue;
        }
        has_id |= str_is(key, "user_id");
        json_key_text(out, key);
        json_raw(out, raw);
    }
    if (id && !has_id) {
        json_name(out, "user_id");
        json_id(out, id);
    }
    json_object_end(out);
    return id;
}

static void write_referring_list(struct shape *s, struct str list, struct buf *to)
{
    struct json_reader r;

    if (!begin(s, &r, list))
        return;
    while (json_next_item(&r)) {
        struct buf one;
        struct json j = json_to(&one);

        buf_init(&one, LARGEST);
        write_referring(s, value_of(s, &r), &j);
        add_item(to, buf_str(&one));
        buf_clear(&one);
    }
}

/* --- private channels ----------------------------------------------------------------- */

static void write_recipients(struct shape *s, struct str list, struct json *out)
{
    struct json_reader r;

    json_name(out, "recipient_ids");
    json_array(out);
    if (begin(s, &r, list))
        while (json_next_item(&r))
            json_id(out, refer_to(s, value_of(s, &r)));
    json_array_end(out);
}

static void write_private_channel(struct shape *s, struct str channel, struct json *out)
{
    struct json_reader r;
    struct str key;

    json_object(out);
    if (begin(s, &r, channel))
        while (json_next_member(&r, &key)) {
            struct str raw = value_of(s, &r);

            if (str_is(key, "recipients")) {
                write_recipients(s, raw, out);
                continue;
            }
            json_key_text(out, key);
            json_raw(out, raw);
        }
    json_object_end(out);
}

/* --- guilds --------------------------------------------------------------------------- */

/* What is not a guild's own but stands beside it. */
static bool stands_beside(struct str key)
{
    static const char *const names[] = {
        "id",
        "joined_at",
        "large",
        "unavailable",
        "member_count",
        "members",
        "channels",
        "threads",
        "presences",
        "voice_states",
        "roles",
        "emojis",
        "stickers",
        "stage_instances",
        "guild_scheduled_events",
        "soundboard_sounds",
        "activity_instances",
        "premium_subscription_count",
    };

    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (str_is(key, names[i]))
            return true;
    return false;
}

/* Its own member stays in READY when others follow later. */
static void merge_members(struct shape *s, struct str members)
{
    bool later = capabilities_supplement(s->bits);
    struct json_reader r;

    add_item(&s->merged, STR("["));
    add_item(&s->merged_more, STR("["));
    if (begin(s, &r, members))
        while (json_next_item(&r)) {
            struct buf one;
            struct json j = json_to(&one);

            buf_init(&one, LARGEST);
            snowflake id = write_referring(s, value_of(s, &r), &j);
            add_item(later && id != s->own ? &s->merged_more : &s->merged, buf_str(&one));
            buf_clear(&one);
        }
    buf_add_char(&s->merged, ']');
    buf_add_char(&s->merged_more, ']');
}

static void merge_presences(struct shape *s, struct str presences)
{
    add_item(&s->presences, STR("["));
    write_referring_list(s, presences, &s->presences);
    buf_add_char(&s->presences, ']');
}

static void supplement_guild(struct shape *s, snowflake id, struct str voice_states)
{
    struct buf one;
    struct json j = json_to(&one);

    buf_init(&one, LARGEST);
    json_object(&j);
    json_name(&j, "id");
    json_id(&j, id);
    json_name(&j, "voice_states");
    json_raw(&j, voice_states);
    json_name(&j, "activity_instances");
    json_raw(&j, STR("[]"));
    json_object_end(&j);
    add_item(&s->guilds, buf_str(&one));
    buf_clear(&one);
}

struct guild_parts {
    struct str members, presences, voice_states;
};

/* True: it was taken out of the guild. */
static bool take_out(const struct shape *s, struct str key, struct str raw, struct guild_parts *p)
{
    bool users = s->bits & CAPABILITY_USERS;

    if (users && str_is(key, "members"))
        p->members = raw;
    else if (users && str_is(key, "presences"))
        p->presences = raw;
    else if (capabilities_supplement(s->bits) && str_is(key, "voice_states"))
        p->voice_states = raw;
    else
        return false;
    return true;
}

static void write_own_fields(struct shape *s, struct str guild, struct json *out)
{
    struct json_reader r;
    struct str key;

    json_name(out, "properties");
    json_object(out);
    if (begin(s, &r, guild))
        while (json_next_member(&r, &key)) {
            struct str raw = value_of(s, &r);

            if (str_is(key, "id") || !stands_beside(key)) {
                json_key_text(out, key);
                json_raw(out, raw);
            }
        }
    json_object_end(out);
    json_name(out, "data_mode");
    json_text(out, STR("full"));
    json_name(out, "version");
    json_int(out, 0);
}

/* It comes later; READY has nothing but its id. */
static bool is_unavailable(struct str guild)
{
    struct str end = STR("\"unavailable\":true}");

    return guild.n >= end.n && str_eq(str_from(guild, guild.n - end.n), end);
}

static void write_guild(struct shape *s, struct str guild, struct json *out)
{
    struct guild_parts parts = { STR("[]"), STR("[]"), STR("[]") };
    struct json_reader r;
    struct str key;

    json_object(out);
    if (begin(s, &r, guild))
        while (json_next_member(&r, &key)) {
            struct str raw = value_of(s, &r);

            if (take_out(s, key, raw, &parts) ||
                (s->bits & CAPABILITY_PROPERTIES && !stands_beside(key)))
                continue;
            json_key_text(out, key);
            json_raw(out, raw);
        }
    if (s->bits & CAPABILITY_PROPERTIES && !is_unavailable(guild))
        write_own_fields(s, guild, out);
    json_object_end(out);
    if (s->bits & CAPABILITY_USERS) {
        merge_members(s, parts.members);
        merge_presences(s, parts.presences);
        supplement_guild(s, id_in(s, guild), parts.voice_states);
    }
}

/* --- READY ---------------------------------------------------------------------------- */

static void write_versioned(struct str entries, struct json *out)
{
    json_object(out);
    json_name(out, "entries");
    json_raw(out, entries);
    json_name(out, "partial");
    json_bool(out, false);
    json_name(out, "version");
    json_int(out, 0);
    json_object_end(out);
}

static bool is_left_out(const struct shape *s, struct str key)
{
    bool users = s->bits & CAPABILITY_USERS;

    return (s->bits & CAPABILITY_NO_NOTES && str_is(key, "notes")) ||
           (s->bits & CAPABILITY_NO_SETTINGS && str_is(key, "user_settings")) ||
           (users && str_is(key, "users"));
}

/* Goes through a list with the reader itself: it may be long. */
static void write_list(struct shape *s, struct json_reader *r, struct json *out,
                       void (*write)(struct shape *s, struct str raw, struct json *out))
{
    json_array(out);
    json_enter(r);
    while (json_next_item(r))
        write(s, value_of(s, r), out);
    json_array_end(out);
}

static void write_relationship(struct shape *s, struct str raw, struct json *out)
{
    write_referring(s, raw, out);
}

static void write_member(struct shape *s, struct str key, struct json_reader *r, struct json *out)
{
    bool users = s->bits & CAPABILITY_USERS, list = json_peek(r) == JSON_ARRAY;

    if (users && list && str_is(key, "presences")) {
        write_referring_list(s, value_of(s, r), &s->friends);
        return;
    }
    json_key_text(out, key);
    if (list && str_is(key, "guilds"))
        write_list(s, r, out, write_guild);
    else if (users && list && str_is(key, "private_channels"))
        write_list(s, r, out, write_private_channel);
    else if (users && list && str_is(key, "relationships"))
        write_list(s, r, out, write_relationship);
    else if ((s->bits & CAPABILITY_READ_STATE && str_is(key, "read_state")) ||
             (s->bits & CAPABILITY_GUILD_SETTINGS && str_is(key, "user_guild_settings")))
        write_versioned(value_of(s, r), out);
    else
        json_raw(out, value_of(s, r));
}

static void write_merged_presences(struct shape *s, struct json *out)
{
    json_name(out, "merged_presences");
    json_object(out);
    raw_member(out, "friends", &s->friends);
    raw_member(out, "guilds", &s->presences);
    json_object_end(out);
}

static void write_supplemental(struct shape *s, struct json *out)
{
    json_object(out);
    raw_member(out, "guilds", &s->guilds);
    raw_member(out, "merged_members", &s->merged_more);
    write_merged_presences(s, out);
    json_name(out, "lazy_private_channels");
    json_raw(out, STR("[]"));
    json_name(out, "disclose");
    json_raw(out, STR("[]"));
    json_name(out, "game_invites");
    json_raw(out, STR("[]"));
    json_object_end(out);
}

static void write_ready(struct shape *s, struct str plain, struct json *out)
{
    struct json_reader r;
    struct str key;

    if (!begin(s, &r, plain))
        return;
    json_object(out);
    while (json_next_member(&r, &key)) {
        r.values = 0;
        if (is_left_out(s, key))
            value_of(s, &r);
        else
            write_member(s, key, &r, out);
    }
    s->bad |= !json_ok(&r);
    if (s->bits & CAPABILITY_USERS) {
        raw_member(out, "users", &s->users);
        raw_member(out, "merged_members", &s->merged);
        if (!capabilities_supplement(s->bits))
            write_merged_presences(s, out);
    }
    json_object_end(out);
}

bool capabilities_apply(int64_t capabilities, struct str plain, snowflake own, struct arena *arena,
                        struct buf *ready, struct buf *supplemental)
{
    struct shape s = { .bits = capabilities, .own = own, .arena = arena };
    struct buf *lists[] = {
        &s.users, &s.merged, &s.merged_more, &s.presences, &s.friends, &s.guilds
    };
    struct json j = json_to(ready), more = json_to(supplemental);

    map_init(&s.known);
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        buf_init(lists[i], LARGEST);
        buf_add_char(lists[i], '[');
    }
    write_ready(&s, plain, &j);
    if (capabilities_supplement(capabilities))
        write_supplemental(&s, &more);
    s.bad |= buf_full(ready) || buf_full(supplemental);
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        s.bad |= buf_full(lists[i]);
        buf_clear(lists[i]);
    }
    map_clear(&s.known);
    return !s.bad;
}
