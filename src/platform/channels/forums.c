/* forums.c - tags and default settings of forum and media channels. */
#include "platform/channels/internal.h"

enum { EMOJI_NAME_MAX = 64 };

static enum err refuse_forum_field(struct call *call, const struct json_path *at, const char *code,
                                   const char *message)
{
    form_add_error(&call->form, at, code, "%s", message);
    return ERR_INVALID_FORM_BODY;
}

static const char IS_EMOJI[] = "select 1 from emojis where id = $1 and guild_id = $2";

/* Adds a form error if both id (emoji of the guild) and name (Unicode emoji) are set. */
static enum err validate_forum_emoji(struct call *call, const struct json_path *up,
                                     const struct opt_id *id, const struct opt_str *name,
                                     snowflake guild_id)
{
    struct json_path at = json_path_key(up, STR("emoji_id")),
                     at_name = json_path_key(up, STR("emoji_name"));
    bool found = true;
    enum err e = OK;

    if (id->given == GIVEN && name->given == GIVEN)
        return refuse_forum_field(call, &at_name, "INVALID_EMOJI",
                                  "Only one of emoji_id and emoji_name may be set.");
    if (name->given == GIVEN && (!name->value.n || name->value.n > EMOJI_NAME_MAX))
        return refuse_forum_field(call, &at_name, "INVALID_EMOJI", "Not an emoji.");
    if (id->given == GIVEN)
        e = tx_exists(call->tx, IS_EMOJI, BIND(v_id(id->value), v_id(guild_id)), &found);
    return e || found ? e : refuse_forum_field(call, &at, "INVALID_EMOJI", "Unknown emoji.");
}

static bool forum_has_tag(const struct channel *c, snowflake id)
{
    const struct forum_tag *t = c->available_tags.value.items;

    for (size_t i = 0; i < c->available_tags.value.count; i++)
        if (t[i].id == id)
            return true;
    return false;
}

static enum err validate_forum_tags(struct call *call, const struct json_path *here,
                                    const struct list *tags, const struct channel *c)
{
    const struct forum_tag *t = tags->items;
    struct json_path all = json_path_key(here, STR("available_tags"));

    if (tags->count > MAX_FORUM_TAGS)
        return ERR_MAX_FORUM_TAGS;
    for (size_t i = 0; i < tags->count; i++) {
        struct json_path at = json_path_index(&all, i);
        enum err e =
            validate_forum_emoji(call, &at, &t[i].emoji_id, &t[i].emoji_name, c->guild_id.value);

        if (e)
            return e;
        if (t[i].id && !forum_has_tag(c, t[i].id))
            return ERR_UNKNOWN_TAG_GIVEN;
        for (size_t k = 0; k < i; k++) {
            if (str_eq(t[k].name, t[i].name))
                return ERR_TAG_NAMES;
            if (t[i].id && t[k].id == t[i].id)
                return ERR_UNKNOWN_TAG_GIVEN;
        }
    }
    return OK;
}

enum err forum_edit_validate(struct call *call, const struct json_path *here,
                             const struct channel_edit *in, const struct channel *c)
{
    const struct default_reaction *r = in->default_reaction_emoji.value;
    struct json_path at = json_path_key(here, STR("default_reaction_emoji"));
    enum err e = validate_forum_tags(call, here, &in->available_tags.value, c);

    if (e || !r)
        return e;
    if (r->emoji_id.given != GIVEN && r->emoji_name.given != GIVEN)
        return refuse_forum_field(call, &at, "INVALID_EMOJI",
                                  "Either emoji_id or emoji_name is required.");
    return validate_forum_emoji(call, &at, &r->emoji_id, &r->emoji_name, c->guild_id.value);
}

/* Sets the emoji field that the body does not have to null, because stored tags have both. */
static void set_missing_emoji_fields_null(struct opt_id *id, struct opt_str *name)
{
    if (id->given == ABSENT)
        id->given = GIVEN_NULL;
    if (name->given == ABSENT)
        name->given = GIVEN_NULL;
}

static void assign_tag_ids(struct list *tags)
{
    struct forum_tag *t = tags->items;

    for (size_t i = 0; i < tags->count; i++) {
        if (!t[i].id)
            t[i].id = snowflake_new();
        set_missing_emoji_fields_null(&t[i].emoji_id, &t[i].emoji_name);
    }
}

static void copy_optional_int_if_given(struct opt_int *field, const struct opt_int *in)
{
    if (in->given != ABSENT)
        *field = *in;
}

void forum_edit_apply(const struct channel_edit *in, struct channel *c)
{
    struct default_reaction *r = in->default_reaction_emoji.value;

    if (in->available_tags.given != ABSENT) {
        c->available_tags = (struct opt_list){ GIVEN, in->available_tags.value };
        assign_tag_ids(&c->available_tags.value);
    }
    if (r)
        set_missing_emoji_fields_null(&r->emoji_id, &r->emoji_name);
    if (in->default_reaction_emoji.given != ABSENT)
        c->default_reaction_emoji = in->default_reaction_emoji;
    copy_optional_int_if_given(&c->default_sort_order, &in->default_sort_order);
    if (in->default_forum_layout.given != ABSENT)
        c->default_forum_layout = opt_int_present(in->default_forum_layout.value);
    if (in->default_tag_setting.given != ABSENT)
        c->default_tag_setting = in->default_tag_setting.given == GIVEN
                                     ? in->default_tag_setting
                                     : opt_str_or_null(STR("match_some"));
    if (in->flags.given == GIVEN)
        c->flags =
            (c->flags & ~(int64_t)CHANNEL_REQUIRE_TAG) | (in->flags.value & CHANNEL_REQUIRE_TAG);
}

/* --- routes of a single forum tag ---------------------------------------------------- */

const struct type forum_tag_body = { .kind = KIND_OBJECT, .schema = &forum_tag_schema };

static enum err require_manageable_forum(const struct call *call)
{
    const struct channel *c = call->target.channel;

    if (!channel_is_forum_or_media(c->type))
        return ERR_CHANNEL_TYPE;
    return call_require_permissions(call, PERMISSION(MANAGE_CHANNELS));
}

static struct list copy_forum_tags(struct call *call)
{
    const struct list *tags = &call->target.channel->available_tags.value;
    struct list out = { 0 };

    for (size_t i = 0; i < tags->count; i++)
        *(struct forum_tag *)list_append(call->arena, &out, sizeof(struct forum_tag)) =
            ((struct forum_tag *)tags->items)[i];
    return out;
}

static enum err write_forum_tags(struct call *call, struct list tags)
{
    struct channel c = *call->target.channel;
    enum err e = validate_forum_tags(call, NULL, &tags, &c);

    if (e)
        return e;
    assign_tag_ids(&tags);
    c.available_tags = (struct opt_list){ GIVEN, tags };
    e = channel_update(call->tx, &c);
    if (!e)
        e = audit_log_record_object_change(call, c.guild_id.value, AUDIT_CHANNEL_UPDATE, c.id,
                                           audited_channel, call->target.channel, &c);
    if (!e)
        e = channel_emit_update(call, c.id);
    if (!e)
        e = channel_find(call->tx, c.id, &c);
    return e ? e : call_reply_with_object(call, &c);
}

enum err create_forum_tag(struct call *call)
{
    enum err e = require_manageable_forum(call);

    if (e)
        return e;
    struct list tags = copy_forum_tags(call);
    struct forum_tag *t = list_append(call->arena, &tags, sizeof *t);
    *t = *(const struct forum_tag *)call->body;
    t->id = 0;
    return write_forum_tags(call, tags);
}

/* Returns a copy of the forum's tags, and the index of the tag in the path. */
static enum err find_forum_tag_of_path(struct call *call, struct list *ret_tags, size_t *ret)
{
    snowflake id = call_get_path_id(call, "tag.id");
    enum err e = require_manageable_forum(call);

    if (e)
        return e;
    *ret_tags = copy_forum_tags(call);
    const struct forum_tag *t = ret_tags->items;
    for (*ret = 0; *ret < ret_tags->count; ++*ret)
        if (t[*ret].id == id)
            return OK;
    return ERR_UNKNOWN_TAG;
}

enum err replace_forum_tag(struct call *call)
{
    struct list tags;
    size_t i;
    enum err e = find_forum_tag_of_path(call, &tags, &i);

    if (e)
        return e;
    struct forum_tag *t = tags.items;
    snowflake id = t[i].id;
    t[i] = *(const struct forum_tag *)call->body;
    t[i].id = id;
    return write_forum_tags(call, tags);
}

enum err delete_forum_tag(struct call *call)
{
    struct list tags;
    size_t i;
    enum err e = find_forum_tag_of_path(call, &tags, &i);

    if (e)
        return e;
    struct forum_tag *t = tags.items;
    for (; i + 1 < tags.count; i++)
        t[i] = t[i + 1];
    tags.count--;
    return write_forum_tags(call, tags);
}
