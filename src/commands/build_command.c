/* build_command.c - builds a command for the database from a request body. */
#include "base/utf8.h"
#include "commands/internal.h"
#include "json/read.h"

struct command new_empty_command(snowflake guild_id)
{
    struct command k = {
        .type = COMMAND_CHAT_INPUT,
        .name_localizations = { .given = GIVEN_NULL },
        .description_localizations = { .given = GIVEN_NULL },
        .default_member_permissions = { .given = GIVEN_NULL },
    };

    if (guild_id) {
        k.guild_id = opt_id_or_null(guild_id);
        return k;
    }
    k.dm_permission = opt_bool_present(true);
    k.contexts.given = GIVEN_NULL;
    return k;
}

/* --- applying a body ------------------------------------------------------------------ */

static bool list_has_command_context(const struct list *contexts, int64_t context)
{
    for (size_t i = 0; i < contexts->count; i++)
        if (((const int64_t *)contexts->items)[i] == context)
            return true;
    return false;
}

/* Applies the deprecated field dm_permission: adds BOT_DM to the contexts, or removes it. */
static void apply_dm_permission(struct arena *arena, struct command *k, bool allowed)
{
    struct list left = { 0 };

    k->dm_permission.value = allowed;
    if (k->contexts.given != GIVEN ||
        list_has_command_context(&k->contexts.value, CONTEXT_BOT_DM) == allowed)
        return;
    for (int64_t c = CONTEXT_GUILD; c <= CONTEXT_PRIVATE_CHANNEL; c++)
        if (c == CONTEXT_BOT_DM ? allowed : list_has_command_context(&k->contexts.value, c))
            *(int64_t *)list_append(arena, &left, sizeof c) = c;
    if (!left.count)
        *(int64_t *)list_append(arena, &left, sizeof(int64_t)) = CONTEXT_GUILD;
    k->contexts.value = left;
}

static void apply_command_contexts(struct arena *arena, struct command *k,
                                   const struct command_patch *in)
{
    if (in->contexts.given == GIVEN) {
        k->contexts = in->contexts;
        k->dm_permission.value = list_has_command_context(&in->contexts.value, CONTEXT_BOT_DM);
        return;
    }
    /* A null in the body's contexts also resets contexts that an earlier dm_permission had set. */
    if (in->contexts.given == GIVEN_NULL && k->contexts.given == GIVEN) {
        k->contexts = (struct opt_list){ .given = GIVEN_NULL };
        k->dm_permission.value = true;
    }
    if (in->dm_permission.given != ABSENT)
        apply_dm_permission(arena, k, in->dm_permission.given != GIVEN || in->dm_permission.value);
}

static void apply_optional_command_list_field(struct opt_list *field, const struct opt_list *in,
                                              enum field_presence none)
{
    if (in->given != ABSENT)
        *field = in->given == GIVEN ? *in : (struct opt_list){ .given = none };
}

void apply_command_patch(struct arena *arena, struct command *k, const struct command_patch *in)
{
    if (in->type.given == GIVEN)
        k->type = in->type.value;
    if (in->name.given == GIVEN)
        k->name = in->name.value;
    if (in->description.given != ABSENT)
        k->description = in->description.given == GIVEN ? in->description.value : (struct str){ 0 };
    apply_optional_command_list_field(&k->name_localizations, &in->name_localizations, GIVEN_NULL);
    apply_optional_command_list_field(&k->description_localizations, &in->description_localizations,
                                      GIVEN_NULL);
    apply_optional_command_list_field(&k->options, &in->options, ABSENT);
    if (in->default_member_permissions.given != ABSENT)
        k->default_member_permissions = in->default_member_permissions;
    if (in->nsfw.given != ABSENT)
        k->nsfw = in->nsfw.given == GIVEN && in->nsfw.value;
    if (k->guild_id.given == GIVEN)
        return; /* the following fields apply only to global commands */
    apply_command_contexts(arena, k, in);
    apply_optional_command_list_field(&k->integration_types, &in->integration_types, ABSENT);
    if (in->handler.given != ABSENT)
        k->handler = in->handler;
}

/* --- normal form for storage ---------------------------------------------------------- */

/* Sorts a localization dictionary by locale. An empty dictionary becomes null. */
static void normalize_localizations(struct opt_list *dictionary)
{
    struct string_pair *p = dictionary->value.items;

    if (!dictionary->value.count)
        dictionary->given = GIVEN_NULL;
    for (size_t i = 1; i < dictionary->value.count; i++)
        for (size_t n = i; n && str_cmp(p[n].key, p[n - 1].key) < 0; n--) {
            struct string_pair swapped = p[n];

            p[n] = p[n - 1];
            p[n - 1] = swapped;
        }
}

/* Sorts a set of numbers below 32 and removes duplicates. */
static void normalize_number_set(struct arena *arena, struct opt_list *numbers)
{
    struct list tidy = { 0 };
    unsigned set = 0;

    for (size_t i = 0; i < numbers->value.count; i++)
        set |= 1u << ((const int64_t *)numbers->value.items)[i];
    for (int64_t n = 0; n < 32; n++)
        if (set & 1u << n)
            *(int64_t *)list_append(arena, &tidy, sizeof n) = n;
    numbers->value = tidy;
}

static struct str normalize_choice_value(struct arena *arena, const struct command_choice *c,
                                         int64_t type)
{
    struct json_reader r;
    struct json_number n;
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, 8192);
    json_reader_init(&r, c->value, arena);
    if (type == OPTION_STRING)
        json_write_text(&j, command_choice_format_value(arena, c));
    else if (json_read_number(&r, &n) && n.kind == NUMBER_INT)
        json_write_int(&j, n.i);
    else
        json_write_real(&j, n.d);
    return buf_move_to_arena(&out, arena);
}

static void normalize_choices(struct arena *arena, struct command_option *o)
{
    struct command_choice *c = o->choices.value.items;

    for (size_t i = 0; i < o->choices.value.count; i++) {
        normalize_localizations(&c[i].name_localizations);
        c[i].value = normalize_choice_value(arena, &c[i], o->type);
    }
}

static void clear_list_unless_allowed(bool allowed, struct opt_list *list)
{
    if (!allowed || !list->value.count)
        *list = (struct opt_list){ .given = ABSENT };
}

static void normalize_options(struct arena *arena, const struct list *options);

static void normalize_option(struct arena *arena, struct command_option *o)
{
    bool parent = o->type == OPTION_SUB_COMMAND || o->type == OPTION_SUB_COMMAND_GROUP;

    normalize_localizations(&o->name_localizations);
    normalize_localizations(&o->description_localizations);
    clear_list_unless_allowed(true, &o->choices);
    clear_list_unless_allowed(parent, &o->options);
    clear_list_unless_allowed(o->type == OPTION_CHANNEL, &o->channel_types);
    clear_list_unless_allowed(o->type == OPTION_ATTACHMENT, &o->file_types);
    if (parent)
        o->required.given = ABSENT;
    if (!o->autocomplete.value)
        o->autocomplete.given = ABSENT;
    if (o->type != OPTION_INTEGER && o->type != OPTION_NUMBER)
        o->min_value.given = o->max_value.given = ABSENT;
    if (o->type != OPTION_STRING)
        o->min_length.given = o->max_length.given = ABSENT;
    normalize_choices(arena, o);
    normalize_options(arena, &o->options.value);
}

static void normalize_options(struct arena *arena, const struct list *options)
{
    for (size_t i = 0; i < options->count; i++)
        normalize_option(arena, (struct command_option *)options->items + i);
}

/* Trims the name and the localized names of a context menu command, and removes its
 * descriptions. */
static void normalize_menu_command(struct command *k)
{
    struct string_pair *p = k->name_localizations.value.items;

    k->name = utf8_trim(k->name);
    for (size_t i = 0; i < k->name_localizations.value.count; i++)
        p[i].value = utf8_trim(p[i].value);
    k->description_localizations = (struct opt_list){ .given = GIVEN_NULL };
}

void normalize_command(struct arena *arena, struct command *k)
{
    if (k->type == COMMAND_USER || k->type == COMMAND_MESSAGE)
        normalize_menu_command(k);
    if (!k->description.p)
        k->description = STR("");
    normalize_localizations(&k->name_localizations);
    normalize_localizations(&k->description_localizations);
    clear_list_unless_allowed(k->type == COMMAND_CHAT_INPUT, &k->options);
    normalize_options(arena, &k->options.value);
    if (k->type != COMMAND_ENTRY_POINT)
        k->handler.given = ABSENT;
    else if (k->handler.given != GIVEN)
        k->handler = opt_int_present(COMMAND_APP_HANDLER);
    if (k->contexts.given == GIVEN)
        normalize_number_set(arena, &k->contexts);
    if (k->integration_types.given == GIVEN)
        normalize_number_set(arena, &k->integration_types);
}
