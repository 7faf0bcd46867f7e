/* world.c - import and export of guild templates in world files (JSON data sets). A world file does
 * not contain the serialized guild: the import creates it from the imported guild. */
#include "base/clock.h"
#include "platform/templates/templates.h"
#include "platform/worlds/import_export.h"

struct world_template {
    struct opt_str code, description, by;
    struct str name;
    struct opt_int usage_count, created_at, updated_at;
};

static bool is_template_code(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z') ||
              (s.p[i] >= '0' && s.p[i] <= '9')))
            return false;
    return true;
}

static const struct string_rule rule_template_code = {
    is_template_code, FORM_CHOICES, "A code can contain only letters and digits."
};
static const struct type type_template_code = {
    .kind = KIND_STRING, .rule = &rule_template_code, .min = 2, .max = 32
};
static const struct type type_template_description = { .kind = KIND_STRING, .max = 120 };
static const struct field template_fields[] = {
    MAYBE(struct world_template, code, type_template_code),
    MUST(struct world_template, name, type_world_name),
    MAYBE(struct world_template, description, type_template_description),
    MAYBE(struct world_template, by, type_world_ref),
    MAYBE(struct world_template, usage_count, type_count),
    MAYBE(struct world_template, created_at, type_time),
    MAYBE(struct world_template, updated_at, type_time),
    { 0 },
};

WORLD_SINGLE(template, template_fields, NULL);

/* --- import --------------------------------------------------------------------------- */

static const char OWNER_OF[] = "select owner_id from guilds where id = $1";

static enum err resolve_template_creator(struct world_file_importer *im,
                                         const struct world_template *in, snowflake guild,
                                         const struct json_path *at, snowflake *ret)
{
    struct json_path by_at = json_path_key(at, STR("by"));

    if (in->by.given == GIVEN)
        return world_file_resolve_reference(im, &user_naming, 0, in->by.value, &by_at, ret);
    return tx_read_id(im->tx, OWNER_OF, BIND(v_id(guild)), ret);
}

/* Applies the fields of a world file to a template. A field that the file omits is not changed. */
static void apply_template_entry(struct template_summary *t, const struct world_template *in)
{
    t->name = in->name;
    WORLD_SET_IF_GIVEN(t->code, in->code);
    WORLD_SET_OPT_IF_GIVEN(t->description, in->description);
    WORLD_SET_IF_GIVEN(t->usage_count, in->usage_count);
    WORLD_SET_IF_GIVEN(t->created_at, in->created_at);
    WORLD_SET_IF_GIVEN(t->updated_at, in->updated_at);
}

static enum err import_template(struct world_file_importer *im, const void *entry,
                                const struct json_path *at, snowflake guild)
{
    const struct world_template *in = entry;
    struct json_path code_at = json_path_key(at, STR("code"));
    struct template_summary t = { .guild_id = guild,
                                  .created_at = clock_us(),
                                  .updated_at = clock_us() };
    bool known;
    enum err e = template_summary_read(im->tx, guild, &t, &known);
    if (!e && (!known || in->by.given == GIVEN))
        e = resolve_template_creator(im, in, guild, at, &t.creator_id);
    if (e || !t.creator_id)
        return e;
    apply_template_entry(&t, in);
    e = template_save_from_guild(im->tx, &t);
    if (e != ERR_HAS_TEMPLATE)
        return e;
    form_add_error(im->form, &code_at, "WORLD_TAKEN", "another guild's template has this code");
    return OK;
}

/* --- export --------------------------------------------------------------------------- */

static enum err export_template(struct world_file_exporter *ex, struct opt_object *ret)
{
    struct world_template *out = arena_alloc(tx_arena(ex->tx), sizeof *out);
    struct template_summary t;
    bool found;
    enum err e = template_summary_read(ex->tx, ex->guild, &t, &found);

    if (e || !found)
        return e;
    *out = (struct world_template){
        .code = opt_str_or_null(t.code),
        .name = t.name,
        .description = export_optional_text(t.description),
        .by = opt_str_or_null(format_id_string(ex->tx, t.creator_id)),
        .usage_count = { t.usage_count ? GIVEN : ABSENT, t.usage_count },
        .created_at = opt_int_present(t.created_at),
        .updated_at = opt_int_present(t.updated_at),
    };
    *ret = (struct opt_object){ GIVEN, out };
    return OK;
}

const struct world_file_fields templates_world = { (const struct world_file_field[]){
    { "guild", "template", &world_template_type, .order = 220, .import = import_template,
      .export_object = export_template },
    { 0 },
} };
