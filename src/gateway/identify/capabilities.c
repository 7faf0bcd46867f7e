/* capabilities.c - writes READY in the form that the "capabilities" of a user client require. */
#include "gateway/capabilities.h"

#include "base/mem.h"
#include "gateway/sessions/registry.h"
#include "gateway/wire/protocol.h"
#include "model/relationship.h"
#include "model/voice_state.h"

void ready_event_writer_init(struct ready_event_writer *s, int64_t capabilities, snowflake own)
{
    s->capabilities = capabilities;
    s->own = own;
    s->guild_id = 0;
    map_init(&s->known);
    for (int i = 0; i < READY_LISTS; i++) {
        buf_init(&s->texts[i], MAX_PAYLOAD);
        s->lists[i] = json_writer_to_buf(&s->texts[i]);
        if (capabilities & CAPABILITY_USERS)
            json_begin_array(&s->lists[i]);
    }
}

void ready_event_writer_clear(struct ready_event_writer *s)
{
    for (int i = 0; i < READY_LISTS; i++)
        buf_clear(&s->texts[i]);
    map_clear(&s->known);
}

bool ready_event_writer_has_user_list(const struct ready_event_writer *s)
{
    return s && s->capabilities & CAPABILITY_USERS;
}

static bool ready_supplemental_follows_ready(const struct ready_event_writer *s)
{
    return ready_event_writer_has_user_list(s) && s->capabilities & CAPABILITY_SUPPLEMENTAL;
}

static void write_user_id_and_collect_user(struct ready_event_writer *s, const struct user *u,
                                           struct json_writer *out)
{
    if (!map_set_value(&s->known, u->id, s))
        schema_encode_object(&s->lists[READY_LIST_USERS], &partial_user_schema, u);
    json_write_id(out, u->id);
}

bool field_is_not_user(const void *arg, struct str name)
{
    (void)arg;
    return !str_is(name, "user");
}

/* Writes "id" and "guild_id", which Spacebar adds to members. Does nothing for relationships, which
 * have an id already. */
static void write_spacebar_member_ids_json(const struct ready_event_writer *s, snowflake user_id,
                                           struct json_writer *out)
{
    if (!s->guild_id)
        return;
    json_write_name(out, "id");
    json_write_id(out, user_id);
    json_write_name(out, "guild_id");
    json_write_id(out, s->guild_id);
}

/* Writes a member or relationship with "user_id" instead of "user". */
static void write_object_with_user_id(struct ready_event_writer *s, const struct schema *schema,
                                      const void *object, const struct user *user,
                                      struct json_writer *out)
{
    json_begin_object(out);
    schema_encode_fields(out, schema, object, field_is_not_user, NULL);
    json_write_name(out, "user_id");
    write_user_id_and_collect_user(s, user, out);
    if (s->capabilities & CAPABILITY_SPACEBAR) {
        json_write_name(out, "user");
        schema_encode_object(out, &partial_user_schema, user);
        write_spacebar_member_ids_json(s, user->id, out);
    }
    json_end_object(out);
}

/* Writes the fields of an encoded member and adds @everyone (its id is that of the guild) to the
 * member's roles: Spacebar's client computes permissions only from the listed roles. The first
 * match of the quoted field name is the field, because quotes in values are escaped. */
static void write_fields_with_everyone_role(const struct ready_event_writer *s, struct str fields,
                                            struct json_writer *out)
{
    static const char roles[] = "\"roles\":[";
    const char *at = memmem(fields.p, fields.n, roles, sizeof roles - 1);
    struct buf text;

    if (!at || !s->guild_id) {
        json_write_raw_members(out, fields);
        return;
    }
    size_t before = (size_t)(at - fields.p) + sizeof roles - 1;
    buf_init(&text, SIZE_MAX);
    buf_add(&text, fields.p, before);
    buf_printf(&text, "\"%llu\"%s", (unsigned long long)s->guild_id,
               fields.p[before] == ']' ? "" : ",");
    buf_add(&text, fields.p + before, fields.n - before);
    json_write_raw_members(out, buf_as_str(&text));
    buf_clear(&text);
}

static void write_member_and_collect_user(struct ready_event_writer *s,
                                          const struct encoded_member *p, struct json_writer *out)
{
    if (!map_set_value(&s->known, p->id, s))
        json_write_raw(&s->lists[READY_LIST_USERS], p->user);
    if (!(s->capabilities & CAPABILITY_SPACEBAR)) {
        json_write_raw(out, p->object);
        return;
    }
    json_begin_object(out);
    write_fields_with_everyone_role(s, str_slice(p->object.p + 1, p->object.n - 2), out);
    json_write_name(out, "user");
    json_write_raw(out, p->user);
    write_spacebar_member_ids_json(s, p->id, out);
    json_end_object(out);
}

void write_ready_relationships_json(struct ready_event_writer *s,
                                    const struct encoded_members *relationships,
                                    struct json_writer *out)
{
    if (!ready_event_writer_has_user_list(s)) {
        json_write_raw(out, relationships->list);
        return;
    }
    json_begin_array(out);
    for (size_t i = 0; i < relationships->count; i++)
        write_member_and_collect_user(s, &relationships->each[i], out);
    json_end_array(out);
}

static bool field_is_in_private_channel(const void *arg, struct str name)
{
    const struct ready_event_writer *s = arg;

    return s->capabilities & CAPABILITY_SPACEBAR || !str_is(name, "recipients");
}

void write_ready_private_channel_json(struct ready_event_writer *s, const struct channel *c,
                                      struct json_writer *out)
{
    const struct user *others = c->recipients.value.items;

    if (!ready_event_writer_has_user_list(s)) {
        schema_encode_object(out, &channel_schema, c);
        return;
    }
    json_begin_object(out);
    schema_encode_fields(out, &channel_schema, c, field_is_in_private_channel, s);
    json_write_name(out, "recipient_ids");
    json_begin_array(out);
    for (size_t i = 0; i < c->recipients.value.count; i++)
        write_user_id_and_collect_user(s, &others[i], out);
    json_end_array(out);
    json_end_object(out);
}

static bool field_name_is_in_list(struct str name, const char *const *names)
{
    for (; *names; names++)
        if (str_is(name, *names))
            return true;
    return false;
}

/* Returns whether this field of a guild is written next to "properties", not inside it. */
static bool guild_field_is_not_a_property(struct str name)
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

    return field_name_is_in_list(name, names);
}

/* Decides which fields of a guild are written. */
struct guild_form {
    const struct ready_event_writer *shape;
    bool has_people; /* the guild's members are encoded already */
};

static bool field_is_written_in_guild(const void *arg, struct str name)
{
    const struct guild_form *form = arg;
    const struct ready_event_writer *s = form->shape;
    static const char *const people[] = { "members", "presences", NULL };

    if (form->has_people && str_is(name, "members"))
        return false;
    if (!s)
        return true;
    if ((ready_event_writer_has_user_list(s) && field_name_is_in_list(name, people)) ||
        (ready_supplemental_follows_ready(s) && str_is(name, "voice_states")))
        return false;
    return !(s->capabilities & CAPABILITY_PROPERTIES) || guild_field_is_not_a_property(name);
}

static bool is_guild_property_field(const void *arg, struct str name)
{
    (void)arg;
    return str_is(name, "id") || !guild_field_is_not_a_property(name);
}

static void write_guild_properties_json(const struct gateway_guild *g, struct json_writer *out)
{
    json_write_name(out, "properties");
    json_begin_object(out);
    if (g->encoded) {
        json_write_name(out, "id");
        json_write_id(out, g->guild.id);
        json_write_raw_members(out, g->encoded->properties);
    } else {
        schema_encode_fields(out, &gateway_guild_schema, g, is_guild_property_field, NULL);
    }
    json_end_object(out);
    json_write_name(out, "data_mode");
    json_write_text(out, STR("full"));
    json_write_name(out, "version");
    json_write_int(out, 0);
}

/* Writes the members of a guild, or the own member if READY_SUPPLEMENTAL has the others. */
static void write_merged_guild_members(struct ready_event_writer *s, const struct list *members)
{
    const struct member *m = members->items;
    struct json_writer *now = &s->lists[READY_LIST_MEMBERS],
                       *later = &s->lists[READY_LIST_LATER_MEMBERS];

    json_begin_array(now);
    json_begin_array(later);
    for (size_t i = 0; i < members->count; i++)
        write_object_with_user_id(
            s, &member_schema, &m[i], m[i].user,
            ready_supplemental_follows_ready(s) && m[i].user_id != s->own ? later : now);
    json_end_array(now);
    json_end_array(later);
}

static void write_merged_encoded_members(struct ready_event_writer *s,
                                         const struct encoded_members *people)
{
    struct json_writer *now = &s->lists[READY_LIST_MEMBERS],
                       *later = &s->lists[READY_LIST_LATER_MEMBERS];

    json_begin_array(now);
    json_begin_array(later);
    for (size_t i = 0; i < people->count; i++)
        write_member_and_collect_user(
            s, &people->each[i],
            ready_supplemental_follows_ready(s) && people->each[i].id != s->own ? later : now);
    json_end_array(now);
    json_end_array(later);
}

static void append_ready_supplemental_guild(struct ready_event_writer *s, snowflake id,
                                            const struct list *voice_states)
{
    struct json_writer *out = &s->lists[READY_LIST_GUILDS];

    json_begin_object(out);
    json_write_name(out, "id");
    json_write_id(out, id);
    json_write_name(out, "voice_states");
    schema_encode(out, &type_voice_states, voice_states);
    json_write_name(out, "activity_instances");
    json_write_raw(out, STR("[]"));
    json_end_object(out);
}

static void add_guild_to_ready_lists(struct ready_event_writer *s, const struct gateway_guild *g)
{
    if (!ready_event_writer_has_user_list(s))
        return;
    s->guild_id = g->guild.id;
    if (g->encoded_members)
        write_merged_encoded_members(s, g->encoded_members);
    else
        write_merged_guild_members(s, &g->members);
    s->guild_id = 0;
    json_write_raw(&s->lists[READY_LIST_PRESENCES], g->presences);
    append_ready_supplemental_guild(s, g->guild.id, &g->voice_states);
}

/* Writes the fields of a guild; copies fields that are already encoded. */
static void write_guild_fields_json(const struct gateway_guild *g, const struct guild_form *form,
                                    struct json_writer *out)
{
    const struct str *channels = g->channel_texts.items;
    bool apart = form->shape && form->shape->capabilities & CAPABILITY_PROPERTIES;

    if (!g->encoded) {
        schema_encode_fields(out, &gateway_guild_schema, g, field_is_written_in_guild, form);
        return;
    }
    json_write_raw_members(out, g->encoded->top_level_fields);
    if (!apart)
        json_write_raw_members(out, g->encoded->properties);
    schema_encode_fields(out, &guild_per_recipient_schema, g, field_is_written_in_guild, form);
    json_write_name(out, "channels");
    json_begin_array(out);
    for (size_t i = 0; i < g->channel_texts.count; i++)
        json_write_raw(out, channels[i]);
    json_end_array(out);
}

void write_ready_guild_json(struct ready_event_writer *s, const struct gateway_guild *g,
                            struct json_writer *out)
{
    struct guild_form form = { s, g->encoded_members };

    json_begin_object(out);
    write_guild_fields_json(g, &form, out);
    if (g->encoded_members && !ready_event_writer_has_user_list(s)) {
        json_write_name(out, "members");
        json_write_raw(out, g->encoded_members->list);
    }
    if (s && s->capabilities & CAPABILITY_PROPERTIES)
        write_guild_properties_json(g, out);
    json_end_object(out);
    add_guild_to_ready_lists(s, g);
}

static bool guild_field_depends_on_viewer(struct str name)
{
    for (const struct field *f = guild_per_recipient_schema.fields; f->name.p; f++)
        if (str_eq(f->name, name))
            return true;
    return str_is(name, "channels");
}

static bool field_is_shared_outside_properties(const void *arg, struct str name)
{
    (void)arg;
    return !guild_field_depends_on_viewer(name) && guild_field_is_not_a_property(name);
}

static bool field_is_shared_property(const void *arg, struct str name)
{
    (void)arg;
    return !guild_field_depends_on_viewer(name) && !guild_field_is_not_a_property(name);
}

static struct str encode_selected_guild_fields(struct arena *arena, const struct gateway_guild *g,
                                               bool (*shows)(const void *arg, struct str name))
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, MAX_PAYLOAD);
    schema_encode_fields(&j, &gateway_guild_schema, g, shows, NULL);
    return buf_move_to_arena(&out, arena);
}

const struct encoded_guild *encode_viewer_independent_guild_fields(struct arena *arena,
                                                                   const struct guild *guild,
                                                                   const struct list *sounds,
                                                                   const struct list *channels)
{
    const struct gateway_guild whole = { .guild = *guild, .soundboard_sounds = *sounds };
    const struct channel *c = channels->items;
    struct encoded_guild *w = arena_alloc(arena, sizeof *w);

    w->top_level_fields =
        encode_selected_guild_fields(arena, &whole, field_is_shared_outside_properties);
    w->properties = encode_selected_guild_fields(arena, &whole, field_is_shared_property);
    w->channels = arena_array(arena, struct str, channels->count + 1);
    for (size_t i = 0; i < channels->count; i++) {
        struct buf out;
        struct json_writer j = json_writer_to_buf(&out);

        buf_init(&out, MAX_PAYLOAD);
        schema_encode_object(&j, &channel_schema, &c[i]);
        w->channels[i] = buf_move_to_arena(&out, arena);
    }
    return w;
}

void write_ready_unavailable_guild_json(struct ready_event_writer *s, snowflake id,
                                        struct json_writer *out)
{
    const struct gateway_guild late = { .guild.id = id, .presences = STR("[]") };

    json_begin_object(out);
    json_write_name(out, "id");
    json_write_id(out, id);
    json_write_name(out, "unavailable");
    json_write_bool(out, true);
    json_end_object(out);
    add_guild_to_ready_lists(s, &late);
}

struct ready_event_writer_position ready_event_writer_get_position(
    const struct ready_event_writer *s)
{
    struct ready_event_writer_position m;

    for (int i = 0; i < READY_LISTS; i++) {
        m.lists[i] = s->lists[i];
        m.bytes[i] = s->texts[i].n;
    }
    return m;
}

void ready_event_writer_truncate_to_position(struct ready_event_writer *s,
                                             const struct ready_event_writer_position *m)
{
    for (int i = READY_LIST_USERS + 1; i < READY_LISTS; i++) {
        s->lists[i] = m->lists[i];
        buf_truncate(&s->texts[i], m->bytes[i]);
    }
}

size_t ready_event_writer_count_bytes(const struct ready_event_writer *s)
{
    size_t bytes = 0;

    for (int i = 0; i < READY_LISTS; i++)
        bytes += s->texts[i].n;
    return bytes;
}

bool ready_event_writer_is_full(const struct ready_event_writer *s)
{
    bool full = false;

    for (int i = 0; i < READY_LISTS; i++)
        full |= buf_is_full(&s->texts[i]);
    return full;
}

static void write_ready_list_json(struct ready_event_writer *s, enum ready_event_list_kind list,
                                  const char *name, struct json_writer *out)
{
    json_end_array(&s->lists[list]);
    json_write_key(out, str_of(name));
    json_write_raw(out, buf_as_str(&s->texts[list]));
}

static void write_ready_supplemental_lists(struct ready_event_writer *s, struct json_writer *out)
{
    static const char *const none[] = { "lazy_private_channels", "disclose", "game_invites" };

    write_ready_list_json(s, READY_LIST_GUILDS, "guilds", out);
    write_ready_list_json(s, READY_LIST_LATER_MEMBERS, "merged_members", out);
    for (size_t i = 0; i < COUNT_OF(none); i++) {
        json_write_key(out, str_of(none[i]));
        json_write_raw(out, STR("[]"));
    }
}

static void write_merged_presences_json(struct ready_event_writer *s, struct gateway *g,
                                        const struct list *friends, struct json_writer *out)
{
    json_write_name(out, "merged_presences");
    json_begin_object(out);
    json_write_name(out, "friends");
    gateway_write_presences_json(g, 0, friends, true, out);
    write_ready_list_json(s, READY_LIST_PRESENCES, "guilds", out);
    json_end_object(out);
}

void ready_event_writer_write_collected_lists(struct ready_event_writer *s, struct gateway *g,
                                              const struct list *friends, struct json_writer *ready,
                                              struct json_writer *more)
{
    if (!ready_event_writer_has_user_list(s)) {
        json_write_name(ready, "presences");
        gateway_write_presences_json(g, 0, friends, false, ready);
        return;
    }
    write_ready_list_json(s, READY_LIST_USERS, "users", ready);
    write_ready_list_json(s, READY_LIST_MEMBERS, "merged_members", ready);
    if (!ready_supplemental_follows_ready(s)) {
        write_merged_presences_json(s, g, friends, ready);
        return;
    }
    json_begin_object(more);
    write_ready_supplemental_lists(s, more);
    write_merged_presences_json(s, g, friends, more);
    json_end_object(more);
}
