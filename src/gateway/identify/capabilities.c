/* capabilities.c - writes READY as the "capabilities" of a user client require. */
#include "gateway/capabilities.h"

#include "base/mem.h"
#include "gateway/sessions/registry.h"
#include "gateway/wire/protocol.h"
#include "model/relationship.h"
#include "model/voice_state.h"

void shape_init(struct ready_shape *s, int64_t capabilities, snowflake own)
{
    s->capabilities = capabilities;
    s->own = own;
    map_init(&s->known);
    for (int i = 0; i < SHAPE_LISTS; i++) {
        buf_init(&s->texts[i], MAX_PAYLOAD);
        s->lists[i] = json_to(&s->texts[i]);
        if (capabilities & CAPABILITY_USERS)
            json_array(&s->lists[i]);
    }
}

void shape_clear(struct ready_shape *s)
{
    for (int i = 0; i < SHAPE_LISTS; i++)
        buf_clear(&s->texts[i]);
    map_clear(&s->known);
}

bool shape_refers(const struct ready_shape *s)
{
    return s && s->capabilities & CAPABILITY_USERS;
}

/* Returns whether READY_SUPPLEMENTAL follows READY. */
static bool capability_supplements(const struct ready_shape *s)
{
    return shape_refers(s) && s->capabilities & CAPABILITY_SUPPLEMENTAL;
}

static void refer_to(struct ready_shape *s, const struct user *u, struct json *out)
{
    if (!map_put(&s->known, u->id, s))
        schema_encode_object(&s->lists[SHAPE_USERS], &partial_user_schema, u);
    json_id(out, u->id);
}

static bool is_not_user(const void *arg, struct str name)
{
    (void)arg;
    return !str_is(name, "user");
}

/* Writes an object with "user_id" instead of "user". */
static void write_referring(struct ready_shape *s, const struct schema *schema, const void *object,
                            const struct user *user, struct json *out)
{
    json_object(out);
    schema_encode_some(out, schema, object, is_not_user, NULL);
    json_name(out, "user_id");
    refer_to(s, user, out);
    json_object_end(out);
}

static void refer_written(struct ready_shape *s, const struct written_person *p, struct json *out)
{
    if (!map_put(&s->known, p->id, s))
        json_raw(&s->lists[SHAPE_USERS], p->user);
    json_raw(out, p->object);
}

void shape_relationships(struct ready_shape *s, const struct written_people *relationships,
                         struct json *out)
{
    if (!shape_refers(s)) {
        json_raw(out, relationships->list);
        return;
    }
    json_array(out);
    for (size_t i = 0; i < relationships->count; i++)
        refer_written(s, &relationships->each[i], out);
    json_array_end(out);
}

static bool is_not_recipients(const void *arg, struct str name)
{
    (void)arg;
    return !str_is(name, "recipients");
}

void shape_private_channel(struct ready_shape *s, const struct channel *c, struct json *out)
{
    const struct user *others = c->recipients.value.items;

    if (!shape_refers(s)) {
        schema_encode_object(out, &channel_schema, c);
        return;
    }
    json_object(out);
    schema_encode_some(out, &channel_schema, c, is_not_recipients, NULL);
    json_name(out, "recipient_ids");
    json_array(out);
    for (size_t i = 0; i < c->recipients.value.count; i++)
        refer_to(s, &others[i], out);
    json_array_end(out);
    json_object_end(out);
}

static bool is_among(struct str name, const char *const *names)
{
    for (; *names; names++)
        if (str_is(name, *names))
            return true;
    return false;
}

/* Returns whether a guild field is written outside "properties". */
static bool stands_beside(struct str name)
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
        NULL,
    };

    return is_among(name, names);
}

/* Determines which fields of a guild are written. */
struct guild_form {
    const struct ready_shape *shape;
    bool has_people; /* the guild's members are encoded already */
};

static bool stays_in_guild(const void *arg, struct str name)
{
    const struct guild_form *form = arg;
    const struct ready_shape *s = form->shape;
    static const char *const people[] = { "members", "presences", NULL };

    if (form->has_people && str_is(name, "members"))
        return false;
    if (!s)
        return true;
    if ((shape_refers(s) && is_among(name, people)) ||
        (capability_supplements(s) && str_is(name, "voice_states")))
        return false;
    return !(s->capabilities & CAPABILITY_PROPERTIES) || stands_beside(name);
}

static bool is_property(const void *arg, struct str name)
{
    (void)arg;
    return str_is(name, "id") || !stands_beside(name);
}

static void write_properties(const struct gateway_guild *g, struct json *out)
{
    json_name(out, "properties");
    json_object(out);
    if (g->written) {
        json_name(out, "id");
        json_id(out, g->guild.id);
        json_members(out, g->written->properties);
    } else {
        schema_encode_some(out, &gateway_guild_schema, g, is_property, NULL);
    }
    json_object_end(out);
    json_name(out, "data_mode");
    json_text(out, STR("full"));
    json_name(out, "version");
    json_int(out, 0);
}

/* If READY_SUPPLEMENTAL has the other members, READY contains only the account's own member. */
static void merge_members(struct ready_shape *s, const struct list *members)
{
    const struct member *m = members->items;
    struct json *now = &s->lists[SHAPE_MEMBERS], *later = &s->lists[SHAPE_LATER];

    json_array(now);
    json_array(later);
    for (size_t i = 0; i < members->count; i++)
        write_referring(s, &member_schema, &m[i], m[i].user,
                        capability_supplements(s) && m[i].user_id != s->own ? later : now);
    json_array_end(now);
    json_array_end(later);
}

static void merge_people(struct ready_shape *s, const struct written_people *people)
{
    struct json *now = &s->lists[SHAPE_MEMBERS], *later = &s->lists[SHAPE_LATER];

    json_array(now);
    json_array(later);
    for (size_t i = 0; i < people->count; i++)
        refer_written(s, &people->each[i],
                      capability_supplements(s) && people->each[i].id != s->own ? later : now);
    json_array_end(now);
    json_array_end(later);
}

static void supplement_guild(struct ready_shape *s, snowflake id, const struct list *voice_states)
{
    struct json *out = &s->lists[SHAPE_GUILDS];

    json_object(out);
    json_name(out, "id");
    json_id(out, id);
    json_name(out, "voice_states");
    schema_encode(out, &type_voice_states, voice_states);
    json_name(out, "activity_instances");
    json_raw(out, STR("[]"));
    json_object_end(out);
}

static void merge_guild(struct ready_shape *s, const struct gateway_guild *g)
{
    if (!shape_refers(s))
        return;
    if (g->people)
        merge_people(s, g->people);
    else
        merge_members(s, &g->members);
    json_raw(&s->lists[SHAPE_PRESENCES], g->presences);
    supplement_guild(s, g->guild.id, &g->voice_states);
}

/* Writes the fields of a guild; parts that are already encoded are copied. */
static void write_guild(const struct gateway_guild *g, const struct guild_form *form,
                        struct json *out)
{
    const struct str *channels = g->channel_texts.items;
    bool apart = form->shape && form->shape->capabilities & CAPABILITY_PROPERTIES;

    if (!g->written) {
        schema_encode_some(out, &gateway_guild_schema, g, stays_in_guild, form);
        return;
    }
    json_members(out, g->written->beside);
    if (!apart)
        json_members(out, g->written->properties);
    schema_encode_some(out, &guild_seen_schema, g, stays_in_guild, form);
    json_name(out, "channels");
    json_array(out);
    for (size_t i = 0; i < g->channel_texts.count; i++)
        json_raw(out, channels[i]);
    json_array_end(out);
}

void shape_guild(struct ready_shape *s, const struct gateway_guild *g, struct json *out)
{
    struct guild_form form = { s, g->people };

    json_object(out);
    write_guild(g, &form, out);
    if (g->people && !shape_refers(s)) {
        json_name(out, "members");
        json_raw(out, g->people->list);
    }
    if (s && s->capabilities & CAPABILITY_PROPERTIES)
        write_properties(g, out);
    json_object_end(out);
    merge_guild(s, g);
}

static bool differs_by_viewer(struct str name)
{
    for (const struct field *f = guild_seen_schema.fields; f->name.p; f++)
        if (str_eq(f->name, name))
            return true;
    return str_is(name, "channels");
}

static bool is_written_beside(const void *arg, struct str name)
{
    (void)arg;
    return !differs_by_viewer(name) && stands_beside(name);
}

static bool is_written_property(const void *arg, struct str name)
{
    (void)arg;
    return !differs_by_viewer(name) && !stands_beside(name);
}

static struct str guild_write_some(struct arena *arena, const struct gateway_guild *g,
                                   bool (*shows)(const void *arg, struct str name))
{
    struct buf out;
    struct json j = json_to(&out);

    buf_init(&out, MAX_PAYLOAD);
    schema_encode_some(&j, &gateway_guild_schema, g, shows, NULL);
    return buf_take(&out, arena);
}

const struct written_guild *guild_write(struct arena *arena, const struct guild *guild,
                                        const struct list *sounds, const struct list *channels)
{
    const struct gateway_guild whole = { .guild = *guild, .soundboard_sounds = *sounds };
    const struct channel *c = channels->items;
    struct written_guild *w = arena_alloc(arena, sizeof *w);

    w->beside = guild_write_some(arena, &whole, is_written_beside);
    w->properties = guild_write_some(arena, &whole, is_written_property);
    w->channels = arena_array(arena, struct str, channels->count + 1);
    for (size_t i = 0; i < channels->count; i++) {
        struct buf out;
        struct json j = json_to(&out);

        buf_init(&out, MAX_PAYLOAD);
        schema_encode_object(&j, &channel_schema, &c[i]);
        w->channels[i] = buf_take(&out, arena);
    }
    return w;
}

void shape_late_guild(struct ready_shape *s, snowflake id, struct json *out)
{
    const struct gateway_guild late = { .guild.id = id, .presences = STR("[]") };

    json_object(out);
    json_name(out, "id");
    json_id(out, id);
    json_name(out, "unavailable");
    json_bool(out, true);
    json_object_end(out);
    merge_guild(s, &late);
}

struct shape_mark shape_mark(const struct ready_shape *s)
{
    struct shape_mark m;

    for (int i = 0; i < SHAPE_LISTS; i++) {
        m.lists[i] = s->lists[i];
        m.bytes[i] = s->texts[i].n;
    }
    return m;
}

void shape_return(struct ready_shape *s, const struct shape_mark *m)
{
    for (int i = SHAPE_USERS + 1; i < SHAPE_LISTS; i++) {
        s->lists[i] = m->lists[i];
        buf_cut(&s->texts[i], m->bytes[i]);
    }
}

size_t shape_bytes(const struct ready_shape *s)
{
    size_t bytes = 0;

    for (int i = 0; i < SHAPE_LISTS; i++)
        bytes += s->texts[i].n;
    return bytes;
}

bool shape_full(const struct ready_shape *s)
{
    bool full = false;

    for (int i = 0; i < SHAPE_LISTS; i++)
        full |= buf_full(&s->texts[i]);
    return full;
}

static void write_list(struct ready_shape *s, enum shape_list list, const char *name,
                       struct json *out)
{
    json_array_end(&s->lists[list]);
    json_key(out, str_of(name));
    json_raw(out, buf_str(&s->texts[list]));
}

static void write_supplement(struct ready_shape *s, struct json *out)
{
    static const char *const none[] = { "lazy_private_channels", "disclose", "game_invites" };

    write_list(s, SHAPE_GUILDS, "guilds", out);
    write_list(s, SHAPE_LATER, "merged_members", out);
    for (size_t i = 0; i < COUNT_OF(none); i++) {
        json_key(out, str_of(none[i]));
        json_raw(out, STR("[]"));
    }
}

static void shape_write_presences(struct ready_shape *s, struct gateway *g,
                                  const struct list *friends, struct json *out)
{
    json_name(out, "merged_presences");
    json_object(out);
    json_name(out, "friends");
    gateway_presences(g, 0, friends, true, out);
    write_list(s, SHAPE_PRESENCES, "guilds", out);
    json_object_end(out);
}

void shape_end(struct ready_shape *s, struct gateway *g, const struct list *friends,
               struct json *ready, struct json *more)
{
    if (!shape_refers(s)) {
        json_name(ready, "presences");
        gateway_presences(g, 0, friends, false, ready);
        return;
    }
    write_list(s, SHAPE_USERS, "users", ready);
    write_list(s, SHAPE_MEMBERS, "merged_members", ready);
    if (!capability_supplements(s)) {
        shape_write_presences(s, g, friends, ready);
        return;
    }
    json_object(more);
    write_supplement(s, more);
    shape_write_presences(s, g, friends, more);
    json_object_end(more);
}
