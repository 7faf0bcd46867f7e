/* use_template.c - POST /guilds/templates/{template.code}: creates a guild from a template in
 * several steps, because it may have 50,000 overwrites. The thread pool decodes the template. Then
 * steps insert the rows in one transaction each, while the call waits. Then the thread pool encodes
 * GUILD_CREATE, and the last transaction makes the guild visible. */
#include "api/jobs/internal_call.h"
#include "api/hooks.h"
#include "base/clock.h"
#include "platform/members/members.h"
#include "platform/templates/internal.h"

enum {
    STEP_ROWS = 500, /* maximum number of channel and overwrite rows that one step inserts */
    STEP_NS = 4 * 1000 * 1000, /* CPU time limit of a step */
};

static const struct field draft_fields[] = {
    { FIELD(struct template_use_body, name), .type = &type_guild_name },
    { FIELD(struct template_use_body, icon), .type = &type_image_upload,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema draft_schema = {
    .name = "TemplateGuildDraft",
    .size = sizeof(struct template_use_body),
    .fields = draft_fields,
    .doc = "A guild to create from a template.",
};
const struct type template_guild_body = { .kind = KIND_OBJECT, .schema = &draft_schema };

/* State of the creation of a guild, shared by the call and its steps. It is allocated in the call's
 * arena, which only the steps use while the call waits. */
struct template_guild_plan {
    struct call *call;
    struct guild_template template;
    const struct template_source_guild *source;
    struct guild guild;
    struct role *roles;
    struct channel *channels;
    size_t role_count, channel_count;
    size_t written,
        step_position; /* number of committed channels; index of this step's next channel */
    struct gateway_guild shown;
    struct str shown_json; /* JSON of the guild for GUILD_CREATE */
};

/* --- conversion of the template's numbers to ids -------------------------------------- */

static snowflake planned_role_id_of_number(const struct template_guild_plan *p, int64_t number)
{
    const struct template_role *t = p->source->roles.items;

    for (size_t i = 0; i < p->role_count; i++)
        if (t[i].id == number)
            return p->roles[i].id;
    return 0;
}

static const struct channel *planned_channel_of_number(const struct template_guild_plan *p,
                                                       struct opt_int number)
{
    const struct template_channel *t = p->source->channels.items;

    for (size_t i = 0; number.given == GIVEN && i < p->channel_count; i++)
        if (t[i].id == number.value)
            return &p->channels[i];
    return NULL;
}

static struct opt_id planned_channel_id_of_number(const struct template_guild_plan *p,
                                                  struct opt_int number)
{
    const struct channel *c = planned_channel_of_number(p, number);

    return opt_id_or_null(c ? c->id : 0);
}

static void plan_roles_of_template(struct template_guild_plan *p)
{
    const struct template_role *t = p->source->roles.items;

    p->role_count = p->source->roles.count;
    p->roles = arena_array(p->call->arena, struct role, p->role_count + 1);
    for (size_t i = 0; i < p->role_count; i++)
        p->roles[i] = (struct role){
            .id = t[i].id ? snowflake_new() : p->guild.id,
            .guild_id = p->guild.id,
            .name = t[i].name,
            .permissions = t[i].permissions & PERMISSIONS_ALL,
            .position = (int64_t)i,
            .color = t[i].color,
            .colors = t[i].colors,
            .hoist = t[i].hoist,
            .mentionable = t[i].mentionable,
            .unicode_emoji = t[i].unicode_emoji,
        };
}

/* Removes a custom emoji from a channel of the template, because the emoji belongs to the
 * template's guild. A Unicode emoji remains. */
static void remove_custom_emoji(struct opt_id *id, struct opt_str *name)
{
    if (id->given == GIVEN)
        name->given = GIVEN_NULL;
    id->given = GIVEN_NULL;
}

static void plan_forum_tags(struct template_guild_plan *p, const struct template_channel *t,
                            struct channel *c)
{
    const struct template_tag *tags = t->available_tags.value.items;
    const struct default_reaction *reaction = t->default_reaction_emoji.value;

    c->available_tags.given = t->available_tags.given;
    for (size_t i = 0; i < t->available_tags.value.count; i++) {
        struct forum_tag *tag =
            list_append(p->call->arena, &c->available_tags.value, sizeof(struct forum_tag));

        *tag = (struct forum_tag){ snowflake_new(), tags[i].name, tags[i].moderated,
                                   tags[i].emoji_id, tags[i].emoji_name };
        remove_custom_emoji(&tag->emoji_id, &tag->emoji_name);
    }
    if (reaction && reaction->emoji_id.given != GIVEN)
        c->default_reaction_emoji = t->default_reaction_emoji;
}

static void plan_channel_of_template(struct template_guild_plan *p,
                                     const struct template_channel *t, struct channel *c)
{
    const struct template_overwrite *o = t->permission_overwrites.items;
    struct list *overwrites = &c->permission_overwrites.value;

    c->guild_id = opt_id_or_null(p->guild.id);
    c->type = t->type;
    c->name = t->name;
    c->topic = t->topic;
    c->position = opt_int_present(t->position);
    c->bitrate = opt_int_present(t->bitrate);
    c->user_limit = opt_int_present(t->user_limit);
    c->nsfw = opt_bool_present(t->nsfw);
    c->rate_limit_per_user = opt_int_present(t->rate_limit_per_user);
    c->parent_id = planned_channel_id_of_number(p, t->parent_id);
    c->default_auto_archive_duration = t->default_auto_archive_duration;
    c->default_thread_rate_limit_per_user = t->default_thread_rate_limit_per_user;
    c->default_sort_order = t->default_sort_order;
    c->default_forum_layout = t->default_forum_layout;
    c->default_tag_setting = t->default_tag_setting;
    plan_forum_tags(p, t, c);
    c->permission_overwrites.given = GIVEN;
    for (size_t i = 0; i < t->permission_overwrites.count; i++)
        *(struct overwrite *)list_append(p->call->arena, overwrites, sizeof *o) =
            (struct overwrite){ planned_role_id_of_number(p, o[i].id), OVERWRITE_ROLE, o[i].allow,
                                o[i].deny };
}

static void plan_channels_of_template(struct template_guild_plan *p)
{
    const struct template_channel *t = p->source->channels.items;

    p->channel_count = p->source->channels.count;
    p->channels = arena_array(p->call->arena, struct channel, p->channel_count + 1);
    for (size_t i = 0; i < p->channel_count; i++)
        p->channels[i].id = snowflake_new();
    for (size_t i = 0; i < p->channel_count; i++)
        plan_channel_of_template(p, &t[i], &p->channels[i]);
}

static void plan_guild_of_template(struct template_guild_plan *p)
{
    const struct template_use_body *in = p->call->body;
    const struct template_source_guild *s = p->source;

    p->guild = (struct guild){
        .id = p->guild.id,
        .name = in->name,
        .owner_id = p->call->caller->id,
        .afk_timeout = s->afk_timeout,
        .system_channel_flags = s->system_channel_flags,
        .verification_level = s->verification_level,
        .default_message_notifications = s->default_message_notifications,
        .preferred_locale = s->preferred_locale,
    };
    plan_roles_of_template(p);
    plan_channels_of_template(p);
    p->guild.afk_channel_id = planned_channel_id_of_number(p, s->afk_channel_id);
    p->guild.system_channel_id = planned_channel_id_of_number(p, s->system_channel_id);
}

/* Decodes the template on the thread pool, because it can have megabytes. */
static enum err decode_template(struct call *step)
{
    struct template_guild_plan *p = call_get_stage_data(step, "template_guild_plan");
    struct arena *arena = p->call->arena;
    struct template_source_guild *source;
    struct str json;
    enum err e =
        template_source_guild_decompress(arena, p->template.packed, p->template.size, &json);

    if (!e)
        e = template_source_guild_parse(arena, json, &source);
    if (e)
        return e;
    p->source = source;
    plan_guild_of_template(p);
    return OK;
}

/* --- the steps ------------------------------------------------------------------------ */

static enum err insert_hidden_guild(struct call *step)
{
    struct template_guild_plan *p = call_get_stage_data(step, "template_guild_plan");

    return guild_insert_hidden(step, &p->guild, p->roles, p->role_count);
}

static enum err insert_channel_batch(struct call *step)
{
    struct template_guild_plan *p = call_get_stage_data(step, "template_guild_plan");
    int64_t until = clock_thread_cpu_ns() + STEP_NS;
    size_t rows = 0;
    struct guild held;
    enum err e = guild_find_being_created(step->tx, p->guild.id, &held);

    p->step_position = p->written;
    while (!e && p->step_position < p->channel_count && rows < STEP_ROWS &&
           clock_thread_cpu_ns() < until) {
        const struct channel *c = &p->channels[p->step_position++];

        rows += 1 + c->permission_overwrites.value.count;
        e = channel_insert(step->tx, c);
    }
    return e;
}

/* Reads the data of the new guild for GUILD_CREATE, as its owner sees the guild. */
static enum err read_created_guild(struct call *step)
{
    struct template_guild_plan *p = call_get_stage_data(step, "template_guild_plan");
    struct arena *arena = p->call->arena, *before = tx_replace_arena(step->tx, arena);
    struct member *owner = arena_alloc(arena, sizeof *owner);
    struct user *user = arena_alloc(arena, sizeof *user);
    struct list threads;

    p->shown = (struct gateway_guild){ .presences = STR("[]"), .joined_at = clock_us() };
    *owner = (struct member){ .guild_id = p->guild.id,
                              .user_id = p->guild.owner_id,
                              .user = user,
                              .joined_at = p->shown.joined_at };
    p->shown.members = (struct list){ owner, 1 };
    enum err e = guild_find_being_created(step->tx, p->guild.id, &p->shown.guild);
    if (!e)
        e = guild_channels_list(step->tx, p->guild.id, &p->shown.channels, &threads);
    if (!e)
        e = user_find(step->tx, owner->user_id, user);
    p->shown.guild.member_count = 1;
    tx_replace_arena(step->tx, before);
    return e;
}

static void on_created_guild_read(struct call *step, enum err e, void *arg)
{
    struct template_guild_plan *p = arg;

    (void)step;
    call_resume_after_await(p->call, e);
}

static void start_next_step_of_guild_creation(struct template_guild_plan *p);

static void on_step_of_guild_creation_done(struct call *step, enum err e, void *arg)
{
    struct template_guild_plan *p = arg;

    (void)step;
    if (e) {
        call_resume_after_await(p->call, e);
        return;
    }
    p->written = p->step_position;
    start_next_step_of_guild_creation(p);
}

static void start_call_of_guild_creation(struct template_guild_plan *p, struct internal_call step)
{
    step.type = "template_guild_plan";
    step.data = step.arg = p;
    internal_call_start(p->call->api, p->call->loop, &step);
}

static void start_next_step_of_guild_creation(struct template_guild_plan *p)
{
    if (p->written < p->channel_count)
        start_call_of_guild_creation(
            p, (struct internal_call){ .name = "template_step",
                                       .store = ROUTE_STORE_WRITE,
                                       .run = insert_channel_batch,
                                       .done = on_step_of_guild_creation_done });
    else
        start_call_of_guild_creation(p, (struct internal_call){ .name = "template_look",
                                                                .store = ROUTE_STORE_READ,
                                                                .run = read_created_guild,
                                                                .done = on_created_guild_read });
}

static void await_guild_creation(struct call *call)
{
    struct template_guild_plan *p = call_get_stage_data(call, "template_guild_plan");

    start_call_of_guild_creation(p,
                                 (struct internal_call){ .name = "template_begin",
                                                         .store = ROUTE_STORE_WRITE,
                                                         .decode = decode_template,
                                                         .long_input = true,
                                                         .run = insert_hidden_guild,
                                                         .done = on_step_of_guild_creation_done });
}

/* --- the call ------------------------------------------------------------------------- */

static enum err read_template_to_use(struct call *call)
{
    struct template_guild_plan *p = call_get_stage_data(call, "template_guild_plan");
    enum err e = template_find(call->tx, call_get_path_text(call, "template.code"), &p->template);

    return e ? e : check_guild_limit_of_user(call->tx, call->caller->id);
}

static enum err encode_guild_create(struct call *call)
{
    const struct template_use_body *in = call->body;
    struct template_guild_plan *p = call_get_stage_data(call, "template_guild_plan");
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);
    enum err e =
        store_uploaded_picture(call, "icons", p->guild.id, &in->icon, &p->shown.guild.icon);

    if (e)
        return e;
    if (p->shown.guild.icon.given == ABSENT)
        p->shown.guild.icon.given = GIVEN_NULL;
    buf_init(&out, CALL_MAX_REPLY);
    schema_encode_object(&j, &gateway_guild_schema, &p->shown);
    p->shown_json = buf_move_to_arena(&out, call->arena);
    return OK;
}

enum err schedule_guild_creation_from_template(struct call *call)
{
    struct template_guild_plan *p = call_store_stage_data(call, "template_guild_plan", sizeof *p);

    p->call = call;
    p->guild.id = snowflake_new_guild_id();
    call->read = read_template_to_use;
    call->await = await_guild_creation;
    call->compute = encode_guild_create;
    return OK;
}

/* POST /guilds/templates/{template.code} */
enum err use_template(struct call *call)
{
    const struct template_guild_plan *p = call_get_stage_data(call, "template_guild_plan");
    struct guild made;
    enum err e = guild_show_hidden_guild(call, &p->shown.guild);

    if (!e)
        e = template_increment_usage(call->tx, p->template.code);
    if (!e)
        e = guild_find(call->tx, p->guild.id, &made);
    if (!e)
        e = guild_read_roles_emojis_and_other_lists(call, &made);
    if (e)
        return e;
    call_emit_encoded_event(call, EVENT_GUILD_CREATE, audience_of_user(call->caller->id),
                            &gateway_guild_schema, &p->shown, p->shown_json);
    return call_reply_with_object(call, &made);
}
