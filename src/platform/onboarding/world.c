/* world.c - import and export of onboarding prompts in world files (JSON data sets). */
#include "platform/onboarding/onboarding.h"

#include "platform/emojis/world.h"
#include "platform/guilds/guilds.h"
#include "platform/worlds/import_export.h"

/* --- schema --------------------------------------------------------------------------- */

struct world_option {
    struct opt_id id;
    struct str title;
    struct opt_str description, emoji;
    struct opt_list roles, channels; /* struct str */
};

struct world_prompt {
    struct opt_id id;
    struct str title;
    struct opt_int type;
    struct opt_bool single_select, required, in_onboarding;
    struct list options; /* struct world_option */
};

struct world_onboarding {
    struct opt_bool enabled;
    struct opt_int mode;
    struct opt_list prompts, default_channels; /* struct world_prompt, struct str */
};

enum { MOST_PROMPTS = 15, MOST_OPTIONS = 50, MOST_OF_OPTION = 50, MOST_DEFAULT_CHANNELS = 500 };

static const struct type type_prompt_title = { .kind = KIND_STRING, .min = 1, .max = 100 };
static const struct type type_option_title = { .kind = KIND_STRING, .min = 1, .max = 50 };
static const struct type type_option_text = { .kind = KIND_STRING, .max = 100 };
static const struct type type_zero_or_one = { .kind = KIND_INT, .min = 0, .max = 1 };
static const struct type type_option_refs = { .kind = KIND_ARRAY,
                                              .max = MOST_OF_OPTION,
                                              .of = &type_world_ref };
static const struct type type_default_refs = { .kind = KIND_ARRAY,
                                               .max = MOST_DEFAULT_CHANNELS,
                                               .of = &type_world_ref };
static const struct field option_fields[] = {
    MAYBE(struct world_option, id, type_id),
    MUST(struct world_option, title, type_option_title),
    MAYBE(struct world_option, description, type_option_text),
    MAYBE(struct world_option, emoji, type_world_ref),
    MAYBE(struct world_option, roles, type_option_refs),
    MAYBE(struct world_option, channels, type_option_refs),
    { 0 },
};
WORLD_LIST(option, option_fields, NULL, 1, MOST_OPTIONS);
static const struct field prompt_fields[] = {
    MAYBE(struct world_prompt, id, type_id),
    MUST(struct world_prompt, title, type_prompt_title),
    MAYBE(struct world_prompt, type, type_zero_or_one),
    MAYBE(struct world_prompt, single_select, type_bool),
    MAYBE(struct world_prompt, required, type_bool),
    MAYBE(struct world_prompt, in_onboarding, type_bool),
    MUST(struct world_prompt, options, world_option_list),
    { 0 },
};
WORLD_LIST(prompt, prompt_fields, NULL, 0, MOST_PROMPTS);
static const struct field onboarding_fields[] = {
    MAYBE(struct world_onboarding, enabled, type_bool),
    MAYBE(struct world_onboarding, mode, type_zero_or_one),
    MAYBE(struct world_onboarding, prompts, world_prompt_list),
    MAYBE(struct world_onboarding, default_channels, type_default_refs),
    { 0 },
};

WORLD_SINGLE(onboarding, onboarding_fields, NULL);

/* --- import --------------------------------------------------------------------------- */

static enum err import_onboarding_option(struct world_file_importer *im,
                                         const struct world_option *in, snowflake guild,
                                         const struct json_path *at, struct onboarding_option *ret)
{
    struct json_path emoji_at = json_path_key(at, STR("emoji"));
    struct onboarding_option_emoji *emoji = arena_alloc(im->arena, sizeof *emoji);
    struct world_emoji_ref shown = { 0 };
    enum err e = world_file_resolve_emoji_ref(im, guild, &in->emoji, &emoji_at, &shown);

    *emoji = (struct onboarding_option_emoji){ shown.id, shown.name, shown.animated };
    *ret = (struct onboarding_option){
        .id = in->id.given == GIVEN ? in->id.value : snowflake_new(),
        .title = in->title,
        .description = in->description.given == GIVEN ? in->description.value : STR(""),
        .emoji = emoji,
    };
    if (!e)
        e = world_file_resolve_references(im, &role_naming, guild, &in->roles, at, "roles",
                                          &ret->role_ids);
    return e ? e
             : world_file_resolve_references(im, &channel_naming, guild, &in->channels, at,
                                             "channels", &ret->channel_ids);
}

static enum err import_onboarding_prompt(struct world_file_importer *im,
                                         const struct world_prompt *in, snowflake guild,
                                         const struct json_path *at, struct onboarding_prompt *ret)
{
    struct json_path all = json_path_key(at, STR("options"));
    const struct world_option *o = in->options.items;
    enum err e = OK;

    *ret = (struct onboarding_prompt){
        .id = in->id.given == GIVEN ? in->id.value : snowflake_new(),
        .type = in->type.value,
        .title = in->title,
        .single_select = in->single_select.value,
        .required = in->required.value,
        .in_onboarding = in->in_onboarding.given != GIVEN || in->in_onboarding.value,
    };
    for (size_t i = 0; !e && i < in->options.count; i++) {
        struct json_path here = json_path_index(&all, i);

        e = import_onboarding_option(
            im, &o[i], guild, &here,
            list_append(im->arena, &ret->options, sizeof(struct onboarding_option)));
    }
    return e;
}

static enum err save_imported_onboarding(struct world_file_importer *im, const struct onboarding *o)
{
    enum err e = onboarding_save(
        im->tx, o, json_column_encode(im->arena, &type_onboarding_prompts, &o->prompts),
        json_column_encode(im->arena, &type_ids, &o->default_channel_ids));

    return e || !o->enabled
               ? e
               : guild_add_feature_without_event(im->tx, o->guild_id, "GUILD_ONBOARDING");
}

/* Replaces the stored prompts with those of the world file. Prompts that have no id get a new
 * one. */
static enum err import_onboarding(struct world_file_importer *im, const void *entry,
                                  const struct json_path *at, snowflake guild)
{
    const struct world_onboarding *in = entry;
    struct json_path all = json_path_key(at, STR("prompts"));
    unsigned before = im->form->problems;

    struct onboarding o = { .guild_id = guild,
                            .version = (int64_t)snowflake_new(),
                            .enabled = in->enabled.value,
                            .mode = in->mode.value };
    const struct world_prompt *p = in->prompts.value.items;
    enum err e = world_file_resolve_references(im, &channel_naming, guild, &in->default_channels,
                                               at, "default_channels", &o.default_channel_ids);
    for (size_t i = 0; !e && i < in->prompts.value.count; i++) {
        struct json_path here = json_path_index(&all, i);

        e = import_onboarding_prompt(
            im, &p[i], guild, &here,
            list_append(im->arena, &o.prompts, sizeof(struct onboarding_prompt)));
    }
    return e || im->form->problems != before ? e : save_imported_onboarding(im, &o);
}

/* --- export --------------------------------------------------------------------------- */

static void onboarding_options_to_world_entries(struct world_file_exporter *ex,
                                                const struct list *options, struct list *ret)
{
    const struct onboarding_option *o = options->items;

    for (size_t i = 0; i < options->count; i++) {
        struct world_option *out = list_append(tx_arena(ex->tx), ret, sizeof *out);

        *out = (struct world_option){
            .id = opt_id_or_null(o[i].id),
            .title = o[i].title,
            .description = { o[i].description.n ? GIVEN : ABSENT, o[i].description },
            .roles = world_file_export_references(ex->tx, &ex->roles, &o[i].role_ids),
            .channels = world_file_export_references(ex->tx, &ex->channels, &o[i].channel_ids),
        };
        if (o[i].emoji)
            out->emoji =
                world_file_format_emoji_reference(ex->tx, o[i].emoji->id, o[i].emoji->name);
    }
}

static void onboarding_prompts_to_world_entries(struct world_file_exporter *ex,
                                                const struct list *prompts, struct opt_list *ret)
{
    const struct onboarding_prompt *p = prompts->items;

    for (size_t i = 0; i < prompts->count; i++) {
        struct world_prompt *out = export_add_list_item(ex->tx, ret, sizeof *out);

        *out = (struct world_prompt){
            .id = opt_id_or_null(p[i].id),
            .title = p[i].title,
            .type = { p[i].type ? GIVEN : ABSENT, p[i].type },
            .single_select = { p[i].single_select ? GIVEN : ABSENT, p[i].single_select },
            .required = { p[i].required ? GIVEN : ABSENT, p[i].required },
            .in_onboarding = { p[i].in_onboarding ? ABSENT : GIVEN, p[i].in_onboarding },
        };
        onboarding_options_to_world_entries(ex, &p[i].options, &out->options);
    }
}

static enum err export_onboarding(struct world_file_exporter *ex, struct opt_object *ret)
{
    struct world_onboarding *out = arena_alloc(tx_arena(ex->tx), sizeof *out);
    struct onboarding o;
    enum err e = onboarding_find(ex->tx, ex->guild, &o);

    if (e || !o.version)
        return e;
    *out = (struct world_onboarding){
        .enabled = { o.enabled ? GIVEN : ABSENT, o.enabled },
        .mode = { o.mode ? GIVEN : ABSENT, o.mode },
        .default_channels =
            world_file_export_references(ex->tx, &ex->channels, &o.default_channel_ids),
    };
    onboarding_prompts_to_world_entries(ex, &o.prompts, &out->prompts);
    *ret = (struct opt_object){ GIVEN, out };
    return OK;
}

const struct world_file_fields onboarding_world = { (const struct world_file_field[]){
    { "guild", "onboarding", &world_onboarding_type, .order = 210, .import = import_onboarding,
      .export_object = export_onboarding },
    { 0 },
} };
