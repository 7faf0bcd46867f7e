/* create.c - POST /guilds. The body may list roles and channels of the new guild. In the body they
 * have placeholder ids, by which they refer to each other; this file assigns the real ids. */
#include "platform/guilds/internal.h"

#include "api/hooks.h"
#include "base/mem.h"

/* Data that the stages of POST /guilds pass on to the handler. */
struct new_guild {
    snowflake id;
    struct opt_str icon;
};

struct guild_creation {
    struct call *call;
    const struct guild_create_request *in;
    struct guild guild;
    struct role *roles; /* created roles: one per element of in->roles, @everyone first */
    size_t role_count;
    struct channel *channels;
    size_t channel_count;
};

static enum err store_guild_icon(struct call *call)
{
    const struct guild_create_request *in = call->body;
    struct new_guild *seed = call_get_stage_data(call, "new_guild");

    return store_uploaded_picture(call, "icons", seed->id, &in->icon, &seed->icon);
}

/* Limits the number of overwrites in all channels of the body, because one transaction writes them
 * all. */
static enum err count_requested_overwrites(struct call *call, const struct list *channels)
{
    const struct new_guild_channel *c = channels->items;
    struct json_path list = json_path_key(NULL, STR("channels"));
    size_t count = 0;

    for (size_t i = 0; i < channels->count; i++) {
        struct json_path item = json_path_index(&list, i),
                         at = json_path_key(&item, STR("permission_overwrites"));

        count += c[i].permission_overwrites.count;
        if (count > MAX_NEW_GUILD_OVERWRITES) {
            form_add_error(&call->form, &at, "BASE_TYPE_MAX_LENGTH",
                           "Must be %d or fewer in all channels.", MAX_NEW_GUILD_OVERWRITES);
            return ERR_INVALID_FORM_BODY;
        }
    }
    return OK;
}

enum err validate_guild_create_request(struct call *call)
{
    const struct guild_create_request *in = call->body;
    struct new_guild *seed = call_store_stage_data(call, "new_guild", sizeof *seed);
    enum err e = count_requested_overwrites(call, &in->channels.value);

    if (e)
        return e;
    seed->id = snowflake_new_guild_id();
    if (in->icon.given == GIVEN)
        call->compute = store_guild_icon;
    return OK;
}

static void create_requested_roles(struct guild_creation *f)
{
    const struct list *drafts = &f->in->roles.value;
    const struct role_edit *in = drafts->items;
    struct arena *arena = f->call->arena;

    f->role_count = drafts->count ? drafts->count : 1;
    f->roles = arena_array(arena, struct role, f->role_count);
    for (size_t i = 0; i < f->role_count; i++) {
        f->roles[i] = (struct role){
            .id = i ? snowflake_new() : f->guild.id,
            .guild_id = f->guild.id,
            .name = STR("new role"),
            .permissions = i ? f->roles[0].permissions : PERMISSIONS_DEFAULT,
            .position = (int64_t)i,
        };
        role_edit_apply(arena, &f->roles[i], drafts->count ? &in[i] : &(struct role_edit){ 0 },
                        f->roles[i].permissions);
    }
    f->roles[0].name = STR("@everyone");
    f->roles[0].hoist = f->roles[0].mentionable = false;
}

/* Returns the role that was created for a placeholder id of the body, or NULL. */
static const struct role *find_requested_role(const struct guild_creation *f, snowflake id)
{
    const struct role_edit *in = f->in->roles.value.items;

    for (size_t i = 0; i < f->in->roles.value.count; i++)
        if (in[i].id.given == GIVEN && in[i].id.value == id)
            return &f->roles[i];
    return NULL;
}

/* Returns the channel that was created for a placeholder id of the body, or NULL if no such channel
 * has been created yet. */
static const struct channel *find_requested_channel(const struct guild_creation *f, snowflake id)
{
    const struct new_guild_channel *in = f->in->channels.value.items;

    for (size_t i = 0; i < f->in->channels.value.count && i < f->channel_count; i++)
        if (in[i].id.given == GIVEN && in[i].id.value == id)
            return &f->channels[i];
    return NULL;
}

static void refuse_requested_channel_field(struct guild_creation *f, const struct json_path *at,
                                           const char *message)
{
    form_add_error(&f->call->form, at, FORM_CHOICES, "%s", message);
}

static struct opt_id resolve_requested_parent(struct guild_creation *f,
                                              const struct new_guild_channel *in,
                                              const struct json_path *up)
{
    struct json_path at = json_path_key(up, STR("parent_id"));
    const struct channel *parent;

    if (in->parent_id.given != GIVEN)
        return (struct opt_id){ .given = GIVEN_NULL };
    parent = find_requested_channel(f, in->parent_id.value);
    if (!parent || parent->type != CHANNEL_CATEGORY || in->type == CHANNEL_CATEGORY) {
        refuse_requested_channel_field(f, &at,
                                       "Value must be a category that comes earlier in the list.");
        return in->parent_id;
    }
    return opt_id_or_null(parent->id);
}

/* Resolves the overwrites of a channel in the body. They may be for roles of the body, or for the
 * owner, who is the only member yet. */
static void resolve_requested_overwrites(struct guild_creation *f,
                                         const struct new_guild_channel *in,
                                         struct channel *channel, const struct json_path *up)
{
    struct json_path list = json_path_key(up, STR("permission_overwrites"));
    const struct overwrite *given = in->permission_overwrites.items;

    channel->permission_overwrites.given = GIVEN;
    for (size_t i = 0; i < in->permission_overwrites.count; i++) {
        struct json_path item = json_path_index(&list, i), at = json_path_key(&item, STR("id"));
        const struct role *role = find_requested_role(f, given[i].id);
        struct overwrite *o = list_append(f->call->arena, &channel->permission_overwrites.value,
                                          sizeof(struct overwrite));

        *o = given[i];
        o->allow &= PERMISSIONS_ALL;
        o->deny &= PERMISSIONS_ALL;
        if (o->type == OVERWRITE_ROLE && role)
            o->id = role->id;
        else if (o->type == OVERWRITE_ROLE || o->id != f->guild.owner_id)
            refuse_requested_channel_field(f, &at,
                                           "Value must be a role of the body, or the owner.");
    }
}

static void create_requested_channel(struct guild_creation *f, size_t i)
{
    const struct new_guild_channel *in =
        (const struct new_guild_channel *)f->in->channels.value.items + i;
    struct json_path list = json_path_key(NULL, STR("channels")), at = json_path_index(&list, i);
    struct channel *c = &f->channels[i];

    *c = (struct channel){
        .id = snowflake_new(),
        .guild_id = opt_id_or_null(f->guild.id),
        .type = in->type,
        .name = opt_str_or_null(in->name),
        .topic = in->topic,
        .position = opt_int_present((int64_t)i),
        .parent_id = resolve_requested_parent(f, in, &at),
        .nsfw = in->nsfw,
        .rate_limit_per_user = in->rate_limit_per_user,
        .bitrate = in->bitrate,
        .user_limit = in->user_limit,
    };
    resolve_requested_overwrites(f, in, c, &at);
}

/* Creates the default channels, if the body has none: a text channel and a voice channel, each in a
 * category. */
static void create_default_channels(struct guild_creation *f)
{
    static const struct {
        int64_t type;
        const char *name;
        int parent;
    } rows[] = {
        { CHANNEL_CATEGORY, "Text Channels", -1 },
        { CHANNEL_CATEGORY, "Voice Channels", -1 },
        { CHANNEL_TEXT, "general", 0 },
        { CHANNEL_VOICE, "General", 1 },
    };
    static const int64_t positions[] = { 0, 1, 0, 0 };

    f->channel_count = COUNT_OF(rows);
    f->channels = arena_array(f->call->arena, struct channel, f->channel_count);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        f->channels[i] = (struct channel){
            .id = snowflake_new(),
            .guild_id = opt_id_or_null(f->guild.id),
            .type = rows[i].type,
            .name = opt_str_or_null(str_of(rows[i].name)),
            .position = opt_int_present(positions[i]),
            .parent_id = opt_id_or_null(rows[i].parent < 0 ? 0 : f->channels[rows[i].parent].id),
            .permission_overwrites = { .given = GIVEN },
        };
    f->guild.system_channel_id = opt_id_or_null(f->channels[2].id);
}

static void create_requested_channels(struct guild_creation *f)
{
    size_t count = f->in->channels.value.count;

    if (f->in->channels.given != GIVEN) {
        create_default_channels(f);
        return;
    }
    f->channels = arena_array(f->call->arena, struct channel, count);
    for (; f->channel_count < count; f->channel_count++)
        create_requested_channel(f, f->channel_count);
}

/* Resolves a guild setting that names a channel of the body by its placeholder id. */
static void resolve_requested_channel(struct guild_creation *f, struct str field, struct opt_id in,
                                      int64_t type, struct opt_id *ret)
{
    struct json_path at = json_path_key(NULL, field);
    const struct channel *c;

    if (in.given != GIVEN)
        return;
    c = find_requested_channel(f, in.value);
    if (!c || c->type != type)
        refuse_requested_channel_field(f, &at,
                                       "Value must be a channel of the body, of the right type.");
    else
        *ret = opt_id_or_null(c->id);
}

static void create_requested_guild(struct guild_creation *f)
{
    const struct guild_create_request *in = f->in;
    const struct new_guild *seed = call_get_stage_data(f->call, "new_guild");

    f->guild = (struct guild){
        .id = seed->id,
        .name = in->name,
        .owner_id = f->call->caller->id,
        .icon = seed->icon,
        .afk_timeout = in->afk_timeout.given == GIVEN ? in->afk_timeout.value : GUILD_AFK_TIMEOUT,
        .system_channel_flags = in->system_channel_flags.value,
        .verification_level = in->verification_level.value,
        .default_message_notifications = in->default_message_notifications.value,
        .explicit_content_filter = in->explicit_content_filter.value,
        .preferred_locale = STR("en-US"),
    };
    create_requested_roles(f);
    create_requested_channels(f);
    resolve_requested_channel(f, STR("afk_channel_id"), in->afk_channel_id, CHANNEL_VOICE,
                              &f->guild.afk_channel_id);
    resolve_requested_channel(f, STR("system_channel_id"), in->system_channel_id, CHANNEL_TEXT,
                              &f->guild.system_channel_id);
}

static enum err insert_guild_and_roles(struct guild_creation *f)
{
    struct created_guild made = { &f->guild, f->channels, f->channel_count };
    struct tx *tx = f->call->tx;
    enum err e = guild_insert(tx, &f->guild);

    for (size_t i = 0; !e && i < f->role_count; i++)
        e = role_insert(tx, &f->roles[i]);
    return e ? e : hook_guild_created(f->call, &made);
}

enum err create_guild(struct call *call)
{
    struct guild_creation f = { .call = call, .in = call->body };
    struct guild made;

    create_requested_guild(&f);
    enum err e = form_has_errors(&call->form) ? ERR_INVALID_FORM_BODY : insert_guild_and_roles(&f);
    struct member owner = { .guild_id = f.guild.id, .user_id = f.guild.owner_id };
    if (!e)
        e = hook_member_joined(call, &owner);
    if (!e)
        e = guild_find(call->tx, f.guild.id, &made);
    if (!e)
        e = guild_read_roles_emojis_and_other_lists(call, &made);
    return e ? e : call_reply_with_object(call, &made);
}
