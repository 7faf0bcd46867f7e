/* world.c - import and export of AutoMod rules in world files (JSON data sets). */
#include "platform/automod/automod.h"
#include "platform/worlds/import_export.h"

struct world_rule {
    struct opt_id id;
    struct str name, by;
    int64_t trigger_type;
    struct opt_object trigger_metadata; /* struct automod_trigger_metadata */
    struct list actions;                /* struct automod_action */
    struct opt_bool enabled;
    struct opt_list exempt_roles, exempt_channels; /* struct str */
};

static const struct field rule_fields[] = {
    MAYBE(struct world_rule, id, type_id),
    MUST(struct world_rule, name, type_world_name),
    MUST(struct world_rule, by, type_world_ref),
    MUST(struct world_rule, trigger_type, type_automod_trigger),
    MAYBE(struct world_rule, trigger_metadata, type_automod_metadata),
    MUST(struct world_rule, actions, type_automod_actions),
    MAYBE(struct world_rule, enabled, type_bool),
    MAYBE(struct world_rule, exempt_roles, type_world_refs),
    MAYBE(struct world_rule, exempt_channels, type_world_refs),
    { 0 },
};

WORLD_OBJECT(rule, rule_fields, NULL);

/* --- import from a world file -------------------------------------------------------- */

static const struct world_file_name_lookup rule_naming =
    WORLD_NAME_LOOKUP("rule", "automod_rules", "guild_id");

static enum err import_automod_rule(struct world_file_importer *im, const void *entry,
                                    const struct json_path *at, snowflake guild)
{
    const struct world_rule *in = entry;
    struct json_path by_at = json_path_key(at, STR("by"));
    unsigned before = im->form->problems;
    int64_t others = 0;
    struct automod_rule rule = {
        .guild_id = guild,
        .name = in->name,
        .trigger_type = in->trigger_type,
        .event_type = in->trigger_type == AUTOMOD_PROFILE ? AUTOMOD_ON_PROFILE : AUTOMOD_ON_MESSAGE,
        .trigger_metadata = in->trigger_metadata.value,
        .actions = in->actions,
        .enabled = in->enabled.given != GIVEN || in->enabled.value,
    };
    enum err e =
        world_file_find_existing_object(im, &rule_naming, guild, in->id, in->name, at, &rule.id);

    if (!e)
        e = world_file_resolve_reference(im, &user_naming, 0, in->by, &by_at, &rule.creator_id);
    if (!e)
        e = world_file_resolve_references(im, &role_naming, guild, &in->exempt_roles, at,
                                          "exempt_roles", &rule.exempt_roles);
    if (!e)
        e = world_file_resolve_references(im, &channel_naming, guild, &in->exempt_channels, at,
                                          "exempt_channels", &rule.exempt_channels);
    if (!e)
        e = automod_read_matching_cost_of_other_rules(im->tx, guild, rule.id, &others);
    automod_rule_validate(im->form, at, &rule, others);
    if (e || im->form->problems != before)
        return e;
    if (!rule.id)
        rule.id = in->id.given == GIVEN ? in->id.value : snowflake_new();
    automod_rule_normalize(im->arena, &rule);
    return automod_rule_insert(im->tx, &rule);
}

/* --- export to a world file ---------------------------------------------------------- */

static enum err export_automod_rules(struct world_file_exporter *ex, struct opt_list *ret)
{
    struct list rules;
    enum err e = automod_rules_list(ex->tx, ex->guild, &rules);
    const struct automod_rule *r = rules.items;

    for (size_t i = 0; !e && i < rules.count; i++)
        *(struct world_rule *)export_add_list_item(ex->tx, ret, sizeof(struct world_rule)) =
            (struct world_rule){
                .id = { GIVEN, r[i].id },
                .name = r[i].name,
                .by = format_id_string(ex->tx, r[i].creator_id),
                .trigger_type = r[i].trigger_type,
                .trigger_metadata = { GIVEN, r[i].trigger_metadata },
                .actions = r[i].actions,
                .enabled = { r[i].enabled ? ABSENT : GIVEN, r[i].enabled },
                .exempt_roles = format_id_strings(ex->tx, &r[i].exempt_roles),
                .exempt_channels = format_id_strings(ex->tx, &r[i].exempt_channels),
            };
    return e;
}

const struct world_file_fields automod_world = { (const struct world_file_field[]){
    { "guild", "automod", &world_rule_list, .order = 130, .import = import_automod_rule,
      .export = export_automod_rules },
    { 0 },
} };
