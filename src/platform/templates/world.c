/* world.c - import and export of guild templates in world files. A world file does not contain the
 * snapshot: an import makes a new one from the imported guild. */
#include "base/clock.h"
#include "platform/templates/templates.h"
#include "platform/worlds/file.h"

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

static const struct rule rule_template_code = { is_template_code, FORM_CHOICES,
                                                "A code can contain only letters and digits." };
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

static enum err template_maker(struct importing *im, const struct world_template *in,
                               snowflake guild, const struct place *at, snowflake *ret)
{
    struct place by_at = place_key(at, STR("by"));
    struct rows row;
    bool found;

    if (in->by.given == GIVEN)
        return refer(im, &user_naming, 0, in->by.value, &by_at, ret);
    enum err e = tx_one(im->tx, OWNER_OF, BIND(v_id(guild)), &row, &found);
    *ret = !e && found ? row_id(&row, 0) : 0;
    return e;
}

/* Applies the fields of the file; absent fields do not change. */
static void apply_template(struct template_entry *t, const struct world_template *in)
{
    t->name = in->name;
    WORLD_TAKE(t->code, in->code);
    WORLD_TAKE_OPT(t->description, in->description);
    WORLD_TAKE(t->usage_count, in->usage_count);
    WORLD_TAKE(t->created_at, in->created_at);
    WORLD_TAKE(t->updated_at, in->updated_at);
}

static enum err import_template(struct importing *im, const void *entry, const struct place *at,
                                snowflake guild)
{
    const struct world_template *in = entry;
    struct place code_at = place_key(at, STR("code"));
    struct template_entry t = { .guild_id = guild,
                                .created_at = clock_us(),
                                .updated_at = clock_us() };
    bool known;
    enum err e = template_entry_of(im->tx, guild, &t, &known);
    if (!e && (!known || in->by.given == GIVEN))
        e = template_maker(im, in, guild, at, &t.creator_id);
    if (e || !t.creator_id)
        return e;
    apply_template(&t, in);
    e = template_entry_put(im->tx, &t);
    if (e != ERR_HAS_TEMPLATE)
        return e;
    form_fail(im->form, &code_at, "WORLD_TAKEN", "another guild's template has this code");
    return OK;
}

/* --- export --------------------------------------------------------------------------- */

static enum err export_template(struct exporting *ex, struct opt_object *ret)
{
    struct world_template *out = arena_alloc(tx_arena(ex->tx), sizeof *out);
    struct template_entry t;
    bool found;
    enum err e = template_entry_of(ex->tx, ex->guild, &t, &found);

    if (e || !found)
        return e;
    *out = (struct world_template){
        .code = given_str(t.code),
        .name = t.name,
        .description = shown_opt_text(t.description),
        .by = given_str(shown_id(ex->tx, t.creator_id)),
        .usage_count = { t.usage_count ? GIVEN : ABSENT, t.usage_count },
        .created_at = given_int(t.created_at),
        .updated_at = given_int(t.updated_at),
    };
    *ret = (struct opt_object){ GIVEN, out };
    return OK;
}

const struct world_parts templates_world = { (const struct world_part[]){
    { "guild", "template", &world_template_type, .order = 220, .import = import_template,
      .export_object = export_template },
    { 0 },
} };
