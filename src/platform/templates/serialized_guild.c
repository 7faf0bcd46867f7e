/* serialized_guild.c - the guild in a template as JSON: settings, roles and channels. */
#include <sodium.h>
#include <stdlib.h>
#include <zlib.h>

#include "platform/templates/internal.h"

enum {
    SOURCE_MAX = 48 * 1024 * 1024
}; /* maximum size of the JSON in bytes; 500 channels with long topics need 12 MiB */

/* --- schema --------------------------------------------------------------------------- */

static const struct field overwrite_fields[] = {
    { FIELD(struct template_overwrite, id), .type = &type_count },
    { FIELD(struct template_overwrite, type), .type = &type_count },
    { FIELD(struct template_overwrite, allow), .type = &type_permissions },
    { FIELD(struct template_overwrite, deny), .type = &type_permissions },
    { 0 },
};
static const struct schema template_overwrite_schema = {
    .name = "TemplateOverwrite",
    .size = sizeof(struct template_overwrite),
    .fields = overwrite_fields,
    .doc = "Permissions that a channel allows or denies to a role of the template.",
};
static const struct type type_template_overwrite = { .kind = KIND_OBJECT,
                                                     .schema = &template_overwrite_schema };
static const struct type type_template_overwrites = { .kind = KIND_ARRAY,
                                                      .of = &type_template_overwrite };

static const struct field colors_fields[] = {
    { FIELD(struct role_colors, primary_color), .type = &type_color },
    { FIELD(struct role_colors, secondary_color), .type = &type_color, .flags = NULLABLE },
    { FIELD(struct role_colors, tertiary_color), .type = &type_color, .flags = NULLABLE },
    { 0 },
};
static const struct schema colors_schema = {
    .name = "TemplateRoleColors",
    .size = sizeof(struct role_colors),
    .fields = colors_fields,
    .doc = "The colours of a role.",
};
static const struct type type_template_colors = { .kind = KIND_OBJECT, .schema = &colors_schema };

static const struct field role_fields[] = {
    { FIELD(struct template_role, id), .type = &type_count, .doc = "0 is @everyone" },
    { FIELD(struct template_role, name), .type = &type_text },
    { FIELD(struct template_role, permissions), .type = &type_permissions },
    { FIELD(struct template_role, color), .type = &type_color },
    { FIELD(struct template_role, colors), .type = &type_template_colors, .flags = NULLABLE },
    { FIELD(struct template_role, hoist), .type = &type_bool },
    { FIELD(struct template_role, mentionable), .type = &type_bool },
    { FIELD(struct template_role, icon), .type = &type_asset_hash, .flags = NULLABLE },
    { FIELD(struct template_role, unicode_emoji), .type = &type_text, .flags = NULLABLE },
    { 0 },
};
static const struct schema template_role_schema = {
    .name = "TemplateRole",
    .size = sizeof(struct template_role),
    .fields = role_fields,
    .doc = "A role of a template, the lowest first.",
};
static const struct type type_template_role = { .kind = KIND_OBJECT,
                                                .schema = &template_role_schema };
static const struct type type_template_roles = { .kind = KIND_ARRAY, .of = &type_template_role };

static const struct field tag_fields[] = {
    { FIELD(struct template_tag, id), .type = &type_count },
    { FIELD(struct template_tag, name), .type = &type_text },
    { FIELD(struct template_tag, emoji_id), .type = &type_id, .flags = NULLABLE },
    { FIELD(struct template_tag, emoji_name), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct template_tag, moderated), .type = &type_bool },
    { 0 },
};
static const struct schema template_tag_schema = {
    .name = "TemplateTag",
    .size = sizeof(struct template_tag),
    .fields = tag_fields,
    .doc = "A tag of a forum.",
};
static const struct type type_template_tag = { .kind = KIND_OBJECT,
                                               .schema = &template_tag_schema };
static const struct type type_template_tags = { .kind = KIND_ARRAY, .of = &type_template_tag };

#define MEMBER(member_, type_, flags_)                                               \
    {                                                                                \
        FIELD(struct template_channel, member_), .type = &(type_), .flags = (flags_) \
    }
static const struct field channel_fields[] = {
    MEMBER(id, type_count, 0),
    MEMBER(type, type_count, 0),
    MEMBER(name, type_text, NULLABLE),
    MEMBER(position, type_count, 0),
    MEMBER(topic, type_text, NULLABLE),
    MEMBER(bitrate, type_count, 0),
    MEMBER(user_limit, type_count, 0),
    MEMBER(nsfw, type_bool, 0),
    MEMBER(rate_limit_per_user, type_count, 0),
    MEMBER(parent_id, type_count, NULLABLE),
    MEMBER(default_auto_archive_duration, type_count, NULLABLE),
    MEMBER(permission_overwrites, type_template_overwrites, 0),
    MEMBER(available_tags, type_template_tags, NULLABLE),
    MEMBER(template, type_text, 0),
    MEMBER(default_reaction_emoji, type_default_reaction, NULLABLE),
    MEMBER(default_thread_rate_limit_per_user, type_count, NULLABLE),
    MEMBER(default_sort_order, type_count, NULLABLE),
    MEMBER(default_forum_layout, type_count, NULLABLE),
    MEMBER(default_tag_setting, type_text, NULLABLE),
    MEMBER(theme_color, type_always_null, NULLABLE),
    { 0 },
};
static const struct schema template_channel_schema = {
    .name = "TemplateChannel",
    .size = sizeof(struct template_channel),
    .fields = channel_fields,
    .doc = "A channel of a template; overwrites are those of roles.",
};
static const struct type type_template_channel = { .kind = KIND_OBJECT,
                                                   .schema = &template_channel_schema };
static const struct type type_template_channels = { .kind = KIND_ARRAY,
                                                    .of = &type_template_channel };

/* clang-format off */
#define SOURCE_FIELDS                                                                              \
    { FIELD(struct template_source_guild, name), .type = &type_text },                                   \
    { FIELD(struct template_source_guild, description), .type = &type_text, .flags = NULLABLE },         \
    { FIELD(struct template_source_guild, region), .type = &type_text, .flags = NULLABLE },              \
    { FIELD(struct template_source_guild, verification_level), .type = &type_count },                    \
    { FIELD(struct template_source_guild, default_message_notifications), .type = &type_count },         \
    { FIELD(struct template_source_guild, explicit_content_filter), .type = &type_count },               \
    { FIELD(struct template_source_guild, preferred_locale), .type = &type_text },                       \
    { FIELD(struct template_source_guild, afk_timeout), .type = &type_count },                           \
    { FIELD(struct template_source_guild, afk_channel_id), .type = &type_count, .flags = NULLABLE },     \
    { FIELD(struct template_source_guild, system_channel_id), .type = &type_count, .flags = NULLABLE },  \
    { FIELD(struct template_source_guild, system_channel_flags), .type = &type_count },                  \
    { FIELD(struct template_source_guild, icon_hash), .type = &type_asset_hash, .flags = NULLABLE },     \
    { FIELD(struct template_source_guild, roles), .type = &type_template_roles }
/* clang-format on */
static const struct field source_fields[] = {
    SOURCE_FIELDS,
    { FIELD(struct template_source_guild, channels), .type = &type_template_channels },
    { 0 },
};
static const struct schema source_schema = {
    .name = "TemplateSource",
    .size = sizeof(struct template_source_guild),
    .fields = source_fields,
    .doc = "Settings, roles and channels of the guild of a template.",
};
const struct type type_template_source = { .kind = KIND_OBJECT, .schema = &source_schema };

/* All fields of the serialized guild except the channels. */
static const struct field frame_fields[] = { SOURCE_FIELDS, { 0 } };
static const struct schema frame_schema = {
    .name = "TemplateFrame",
    .size = sizeof(struct template_source_guild),
    .fields = frame_fields,
    .doc = "A template's source without its channels.",
};
static const struct type type_template_frame = { .kind = KIND_OBJECT, .schema = &frame_schema };

/* --- from a guild --------------------------------------------------------------------- */

/* Maps ids of roles or channels to their numbers in the template. The array is sorted by id. */
struct template_numbers {
    struct template_number {
        snowflake id;
        int64_t number;
    } * items;
    size_t count;
};

static int compare_template_numbers(const void *a, const void *b)
{
    snowflake x = ((const struct template_number *)a)->id,
              y = ((const struct template_number *)b)->id;

    return (x > y) - (x < y);
}

static void sort_template_numbers(struct template_numbers *n)
{
    if (n->count)
        qsort(n->items, n->count, sizeof *n->items, compare_template_numbers);
}

static struct opt_int find_template_number(const struct template_numbers *n, snowflake id)
{
    struct template_number key = { .id = id };
    const struct template_number *found =
        n->count ? bsearch(&key, n->items, n->count, sizeof key, compare_template_numbers) : NULL;

    return (struct opt_int){ found ? GIVEN : GIVEN_NULL, found ? found->number : 0 };
}

struct source_reader {
    struct arena *arena;
    struct template_numbers roles, channels;
};

/* Adds the roles of the guild. @everyone (whose role id is the guild's id) gets the number 0. */
static void build_template_roles(struct source_reader *r, const struct list *roles,
                                 snowflake guild_id, struct list *ret)
{
    const struct role *all = roles->items;
    int64_t next = 1;

    r->roles.items = arena_array(r->arena, struct template_number, roles->count + 1);
    for (size_t i = 0; i < roles->count; i++) {
        if (all[i].managed)
            continue;
        struct template_role *t = list_append(r->arena, ret, sizeof *t);
        *t = (struct template_role){
            .id = all[i].id == guild_id ? 0 : next++,
            .name = all[i].name,
            .permissions = all[i].permissions,
            .color = all[i].color,
            .colors = all[i].colors,
            .hoist = all[i].hoist,
            .mentionable = all[i].mentionable,
            .icon.given = GIVEN_NULL,
            .unicode_emoji = all[i].unicode_emoji,
        };
        r->roles.items[r->roles.count++] = (struct template_number){ all[i].id, t->id };
    }
    sort_template_numbers(&r->roles);
}

static void build_template_overwrites(struct source_reader *r, const struct list *overwrites,
                                      struct list *ret)
{
    const struct overwrite *o = overwrites->items;

    for (size_t i = 0; i < overwrites->count; i++) {
        struct opt_int role = find_template_number(&r->roles, o[i].id);

        if (o[i].type != OVERWRITE_ROLE || role.given != GIVEN)
            continue;
        *(struct template_overwrite *)list_append(r->arena, ret,
                                                  sizeof(struct template_overwrite)) =
            (struct template_overwrite){ role.value, o[i].type, o[i].allow, o[i].deny };
    }
}

static struct opt_list build_template_tags(struct source_reader *r, const struct opt_list *tags)
{
    const struct forum_tag *t = tags->value.items;
    struct opt_list out = { tags->given == GIVEN ? GIVEN : GIVEN_NULL, { 0 } };

    for (size_t i = 0; i < tags->value.count; i++)
        *(struct template_tag *)list_append(r->arena, &out.value, sizeof(struct template_tag)) =
            (struct template_tag){ (int64_t)i, t[i].name, t[i].emoji_id, t[i].emoji_name,
                                   t[i].moderated };
    return out;
}

static void build_template_channel(struct source_reader *r, const struct channel *c, int64_t id,
                                   struct template_channel *t)
{
    *t = (struct template_channel){
        .id = id,
        .type = c->type,
        .name = c->name,
        .position = c->position.value,
        .topic = c->topic,
        .bitrate = c->bitrate.given == GIVEN ? c->bitrate.value : 64000,
        .user_limit = c->user_limit.given == GIVEN ? c->user_limit.value : 0,
        .nsfw = c->nsfw.given == GIVEN && c->nsfw.value,
        .rate_limit_per_user =
            c->rate_limit_per_user.given == GIVEN ? c->rate_limit_per_user.value : 0,
        .parent_id = find_template_number(&r->channels, c->parent_id.value),
        .default_auto_archive_duration = c->default_auto_archive_duration,
        .default_thread_rate_limit_per_user = c->default_thread_rate_limit_per_user,
        .default_sort_order = c->default_sort_order,
        .default_forum_layout = c->default_forum_layout,
        .default_tag_setting = c->default_tag_setting,
        .available_tags = build_template_tags(r, &c->available_tags),
        .default_reaction_emoji = c->default_reaction_emoji,
        .template = STR(""),
    };
    build_template_overwrites(r, &c->permission_overwrites.value, &t->permission_overwrites);
}

static void build_template_channels(struct source_reader *r, const struct list *channels,
                                    struct list *ret)
{
    const struct channel *c = channels->items;

    r->channels.items = arena_array(r->arena, struct template_number, channels->count + 1);
    for (size_t i = 0; i < channels->count; i++)
        r->channels.items[i] = (struct template_number){ c[i].id, (int64_t)i + 1 };
    r->channels.count = channels->count;
    sort_template_numbers(&r->channels);
    for (size_t i = 0; i < channels->count; i++)
        build_template_channel(r, &c[i], (int64_t)i + 1,
                               list_append(r->arena, ret, sizeof(struct template_channel)));
}

enum err template_source_guild_read(struct tx *tx, snowflake guild_id,
                                    struct template_source_guild *ret)
{
    struct source_reader r = { .arena = tx_arena(tx) };
    struct list channels, threads;
    struct guild g;
    enum err e = guild_find(tx, guild_id, &g);

    if (!e)
        e = guild_read_roles(tx, &g);
    if (!e)
        e = guild_channels_list(tx, guild_id, &channels, &threads);
    if (e)
        return e;
    *ret = (struct template_source_guild){
        .name = g.name,
        .description = g.description,
        .region.given = GIVEN_NULL,
        .icon_hash.given = GIVEN_NULL,
        .verification_level = g.verification_level,
        .default_message_notifications = g.default_message_notifications,
        .explicit_content_filter = g.explicit_content_filter,
        .preferred_locale = g.preferred_locale,
        .afk_timeout = g.afk_timeout,
        .system_channel_flags = g.system_channel_flags,
    };
    build_template_roles(&r, &g.roles, guild_id, &ret->roles);
    build_template_channels(&r, &channels, &ret->channels);
    ret->afk_channel_id = find_template_number(&r.channels, g.afk_channel_id.value);
    ret->system_channel_id = find_template_number(&r.channels, g.system_channel_id.value);
    return OK;
}

/* --- JSON and compression ------------------------------------------------------------- */

/* The JSON has one line of text per channel. The channels are parsed line by line, because all of
 * them may have more values than the JSON reader allows for one text. */
static const char LINES_BEGIN[] = ",\"channels\":[\n", LINES_END[] = "\n]}";

void template_source_guild_encode(struct arena *arena, const struct template_source_guild *s,
                                  struct encoded_source_guild *ret)
{
    const struct template_channel *c = s->channels.items;
    struct buf out;

    buf_init(&out, SOURCE_MAX);
    struct json_writer frame = json_writer_to_buf(&out);
    schema_encode(&frame, &type_template_frame, s);
    out.n -= out.n > 0; /* removes the closing brace */
    buf_add(&out, LINES_BEGIN, sizeof LINES_BEGIN - 1);
    for (size_t i = 0; i < s->channels.count; i++) {
        struct json_writer line = json_writer_to_buf(&out);

        schema_encode(&line, &type_template_channel, &c[i]);
        if (i + 1 < s->channels.count)
            buf_add_lit(&out, ",\n");
    }
    buf_add(&out, LINES_END, sizeof LINES_END - 1);
    ret->json = buf_move_to_arena(&out, arena);
    crypto_generichash(ret->digest, sizeof ret->digest, (const unsigned char *)ret->json.p,
                       ret->json.n, NULL, 0);
}

static enum err parse_source_without_channels(struct arena *arena, struct str line,
                                              struct template_source_guild **ret)
{
    struct form form = { .arena = arena };
    void *frame;

    if (line.n < sizeof LINES_BEGIN - 2)
        return ERR_INTERNAL;
    line.n -= sizeof LINES_BEGIN -
              2; /* subtract the length of LINES_BEGIN without its NUL and line break */
    if (schema_decode(&type_template_frame, STR_CONCAT(arena, line, STR("}")), &form, &frame))
        return ERR_INTERNAL;
    *ret = frame;
    return OK;
}

enum err template_source_guild_parse(struct arena *arena, struct str json,
                                     struct template_source_guild **ret)
{
    struct form form = { .arena = arena };
    enum err e = parse_source_without_channels(arena, str_cut(&json, '\n'), ret);

    while (!e && json.n) {
        struct str line = str_cut(&json, '\n');
        void *channel;

        if (!line.n || line.p[0] != '{')
            continue;
        line.n -= line.p[line.n - 1] == ',';
        if (schema_decode(&type_template_channel, line, &form, &channel))
            return ERR_INTERNAL;
        *(struct template_channel *)list_append(arena, &(*ret)->channels,
                                                sizeof(struct template_channel)) =
            *(struct template_channel *)channel;
    }
    return e;
}

struct str template_source_guild_compress(struct arena *arena, struct str json)
{
    uLongf n = compressBound((uLong)json.n);
    char *bytes = arena_alloc_unzeroed(arena, n);

    if (compress2((Bytef *)bytes, &n, (const Bytef *)json.p, (uLong)json.n, 1) != Z_OK)
        return (struct str){ 0 };
    return str_slice(bytes, n);
}

enum err template_source_guild_decompress(struct arena *arena, struct str packed, int64_t size,
                                          struct str *ret)
{
    if (size < 0 || size > SOURCE_MAX)
        return ERR_INTERNAL;
    uLongf n = (uLongf)size;
    char *json = arena_alloc_unzeroed(arena, n + 1);
    if (uncompress((Bytef *)json, &n, (const Bytef *)packed.p, (uLong)packed.n) != Z_OK ||
        n != (uLongf)size)
        return ERR_INTERNAL;
    *ret = str_slice(json, n);
    return OK;
}
