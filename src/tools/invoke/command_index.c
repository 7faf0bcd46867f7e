/* command_index.c - finds a command in the server's command indexes. */
#include "tools/invoke/command_index.h"

#include <inttypes.h>
#include <stdio.h>

#include "model/command.h"

struct indexed_application {
    snowflake id;
    struct str name;
};
struct invoke_command_index {
    struct list applications, application_commands;
};

static const struct field choice_fields[] = {
    { FIELD(struct choice_from_command_index, name), .type = &type_text },
    { FIELD(struct choice_from_command_index, name_default), .type = &type_text,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct choice_from_command_index, value), .type = &type_raw },
    { 0 },
};
static const struct schema choice_schema = { .size = sizeof(struct choice_from_command_index),
                                             .fields = choice_fields };
static const struct type type_choice = { .kind = KIND_OBJECT, .schema = &choice_schema };
static const struct type type_choices = { .kind = KIND_ARRAY, .of = &type_choice };

static const struct schema option_schema;
static const struct type type_option = { .kind = KIND_OBJECT, .schema = &option_schema };
static const struct type type_options = { .kind = KIND_ARRAY, .of = &type_option };
static const struct field option_fields[] = {
    { FIELD(struct option_from_command_index, type), .type = &type_int },
    { FIELD(struct option_from_command_index, name), .type = &type_text },
    { FIELD(struct option_from_command_index, name_default), .type = &type_text,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct option_from_command_index, choices), .type = &type_choices,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct option_from_command_index, options), .type = &type_options,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema option_schema = { .size = sizeof(struct option_from_command_index),
                                             .fields = option_fields };

static const struct field command_fields[] = {
    { FIELD(struct command_from_command_index, id), .type = &type_id },
    { FIELD(struct command_from_command_index, application_id), .type = &type_id },
    { FIELD(struct command_from_command_index, version), .type = &type_id },
    { FIELD(struct command_from_command_index, type), .type = &type_int },
    { FIELD(struct command_from_command_index, name), .type = &type_text },
    { FIELD(struct command_from_command_index, name_default), .type = &type_text,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct command_from_command_index, guild_id), .type = &type_id,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct command_from_command_index, options), .type = &type_options,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema command_schema_known = { .size =
                                                        sizeof(struct command_from_command_index),
                                                    .fields = command_fields };
static const struct type type_known = { .kind = KIND_OBJECT, .schema = &command_schema_known };
static const struct type type_all_known = { .kind = KIND_ARRAY, .max = 100000, .of = &type_known };

static const struct field application_fields[] = {
    { FIELD(struct indexed_application, id), .type = &type_id },
    { FIELD(struct indexed_application, name), .type = &type_text },
    { 0 },
};
static const struct schema application_schema_known = { .size = sizeof(struct indexed_application),
                                                        .fields = application_fields };
static const struct type type_app = { .kind = KIND_OBJECT, .schema = &application_schema_known };
static const struct type type_apps = { .kind = KIND_ARRAY, .max = 100000, .of = &type_app };
static const struct field index_fields[] = {
    { FIELD(struct invoke_command_index, applications), .type = &type_apps },
    { FIELD(struct invoke_command_index, application_commands), .type = &type_all_known },
    { 0 },
};
static const struct schema index_schema = { .size = sizeof(struct invoke_command_index),
                                            .fields = index_fields };
static const struct type type_index = { .kind = KIND_OBJECT, .schema = &index_schema };

struct str choose_original_name(struct str name, struct opt_str name_default)
{
    return name_default.given == GIVEN ? name_default.value : name;
}

bool text_is_original_or_localized_name(struct str name, struct opt_str name_default,
                                        struct str text)
{
    return str_eq(name, text) || str_eq(choose_original_name(name, name_default), text);
}

/* Returns whether the application matches --app, which is a name or an id. */
static bool matches_app_option(const struct invoke_command_state *v,
                               const struct invoke_command_index *index, snowflake application)
{
    const struct indexed_application *a = index->applications.items;
    struct str wanted = str_of(v->options->app);
    snowflake id;

    if (!wanted.n || (snowflake_parse(wanted, &id) && id == application))
        return true;
    for (size_t i = 0; i < index->applications.count; i++)
        if (a[i].id == application && str_eq_nocase(a[i].name, wanted))
            return true;
    return false;
}

struct command_search {
    struct str name;
    int64_t type;
    const struct command_from_command_index *found;
    bool several; /* several apps have a matching command */
};

/* Searches one index. A guild command is preferred to a global command of the same name. */
static void search_command_index(const struct invoke_command_state *v,
                                 const struct invoke_command_index *index, struct command_search *s)
{
    const struct command_from_command_index *c = index->application_commands.items;

    for (size_t i = 0; i < index->application_commands.count; i++) {
        if (c[i].type != s->type ||
            !text_is_original_or_localized_name(c[i].name, c[i].name_default, s->name) ||
            !matches_app_option(v, index, c[i].application_id))
            continue;
        if (s->found && s->found->application_id != c[i].application_id)
            s->several = true;
        else if (!s->found || c[i].guild_id.given == GIVEN)
            s->found = &c[i];
    }
}

const struct command_from_command_index *find_command_in_command_index(
    struct invoke_command_state *v, struct str name, unsigned types)
{
    char path[80];
    struct command_search s = { .name = name };

    snprintf(path, sizeof path, "/%s/%" PRIu64 "/application-command-index",
             v->guild_id ? "guilds" : "channels", v->guild_id ? v->guild_id : v->channel_id);
    const struct invoke_command_index *here = invoke_get_json(v, &type_index, path),
                                      *user_index =
                                          here ? invoke_get_json(
                                                     v, &type_index,
                                                     "/users/@me/application-command-index")
                                               : NULL;
    if (!user_index)
        return NULL;
    for (s.type = COMMAND_CHAT_INPUT; s.type <= COMMAND_ENTRY_POINT && !s.found; s.type++) {
        if (!(types >> s.type & 1))
            continue;
        search_command_index(v, here, &s);
        if (!s.found)
            search_command_index(v, user_index, &s);
        if (s.found)
            break;
    }
    if (!s.found)
        print_invoke_error("there is no command '%.*s' that this account can use here",
                           STR_ARGS(name));
    else if (s.several)
        print_invoke_error("several apps have a command '%.*s'; select one with --app",
                           STR_ARGS(name));
    return s.several ? NULL : s.found;
}
