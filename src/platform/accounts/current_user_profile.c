/* current_user_profile.c - PATCH /users/@me/profile: bio, pronouns, colours and banner of the
 * caller. */
#include "platform/accounts/internal.h"

#include "model/fields/rows.h"

struct profile_patch {
    struct opt_str pronouns, bio;
    struct opt_image banner;
    struct opt_int accent_color;
    struct opt_list theme_colors;
};
struct current_user_profile {
    struct str pronouns, bio;
    struct opt_str banner;
    struct opt_int accent_color;
    struct opt_str theme_colors; /* JSON array */
};

static const struct type type_pronouns = { .kind = KIND_STRING, .flags = TYPE_TRIM, .max = 40 };
static const struct type type_about_me = { .kind = KIND_STRING, .max = 190, .doc = "About me" };
static const struct type type_theme_colors = {
    .kind = KIND_ARRAY, .min = 2, .max = 2, .of = &type_color, .doc = "Two colours"
};

static const struct field own_profile_patch_fields[] = {
    { FIELD(struct profile_patch, pronouns), .type = &type_pronouns, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct profile_patch, bio), .type = &type_about_me, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct profile_patch, banner), .type = &type_image_upload,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct profile_patch, accent_color), .type = &type_color,
      .flags = OPTIONAL | NULLABLE },
    { FIELD(struct profile_patch, theme_colors), .type = &type_theme_colors,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema own_profile_patch_schema = {
    .name = "OwnProfilePatch",
    .size = sizeof(struct profile_patch),
    .fields = own_profile_patch_fields,
    .doc = "Changes of the caller's profile; null resets a field.",
};
const struct type current_user_profile_body = { .kind = KIND_OBJECT,
                                                .schema = &own_profile_patch_schema };

static const struct field own_profile_fields[] = {
    { FIELD(struct current_user_profile, pronouns), .type = &type_pronouns },
    { FIELD(struct current_user_profile, bio), .type = &type_about_me },
    { FIELD(struct current_user_profile, banner), .type = &type_asset_hash, .flags = NULLABLE },
    { FIELD(struct current_user_profile, accent_color), .type = &type_color, .flags = NULLABLE },
    { FIELD(struct current_user_profile, theme_colors), .type = &type_raw, .flags = NULLABLE,
      .doc = "Two colours" },
    { 0 },
};
static const struct schema own_profile_schema = {
    .name = "OwnProfile",
    .size = sizeof(struct current_user_profile),
    .fields = own_profile_fields,
    .doc = "The caller's profile.",
};
const struct type current_user_profile_reply = { .kind = KIND_OBJECT,
                                                 .schema = &own_profile_schema };

struct stored_banner {
    struct opt_str hash;
};

static enum err store_profile_banner(struct call *call)
{
    const struct profile_patch *in = call->body;
    struct stored_banner *b = call_get_stage_data(call, "stored_banner");

    return store_uploaded_picture(call, "banners", call->caller->id, &in->banner, &b->hash);
}

enum err schedule_storing_profile_banner(struct call *call)
{
    const struct profile_patch *in = call->body;

    call_store_stage_data(call, "stored_banner", sizeof(struct stored_banner));
    if (in->banner.given != ABSENT)
        call->compute = store_profile_banner;
    return OK;
}

static const char SAVE_PRONOUNS_AND_COLORS[] =
    "update users set pronouns = $2, theme_colors = $3 where id = $1";

enum err profile_theme_colors_find(struct tx *tx, snowflake id, struct opt_str *ret)
{
    struct rows row;
    bool found;
    enum err e =
        tx_one(tx, "select theme_colors from users where id = $1", BIND(v_id(id)), &row, &found);

    *ret = !e && found ? row_optional_text(&row, 0) : (struct opt_str){ .given = GIVEN_NULL };
    return e;
}

static void apply_profile_patch(const struct call *call, struct user *u, struct opt_str *colors)
{
    const struct profile_patch *in = call->body;
    const struct stored_banner *banner = call_get_stage_data(call, "stored_banner");

    if (in->pronouns.given != ABSENT)
        u->pronouns = in->pronouns.given == GIVEN ? in->pronouns.value : STR("");
    if (in->bio.given != ABSENT)
        u->bio = in->bio.given == GIVEN ? in->bio.value : STR("");
    if (in->accent_color.given != ABSENT)
        u->accent_color = in->accent_color;
    if (banner->hash.given != ABSENT)
        u->banner = banner->hash;
    if (in->theme_colors.given == GIVEN)
        *colors = opt_str_or_null(
            json_column_encode(call->arena, &type_theme_colors, &in->theme_colors.value));
    else if (in->theme_colors.given == GIVEN_NULL)
        colors->given = GIVEN_NULL;
}

enum err modify_current_user_profile(struct call *call)
{
    struct opt_str colors;
    const char *taken;
    struct user u, before;
    enum err e = user_find(call->tx, call->caller->id, &u);

    if (!e)
        e = profile_theme_colors_find(call->tx, u.id, &colors);
    if (e)
        return e;
    before = u;
    apply_profile_patch(call, &u, &colors);
    e = user_update(call->tx, &u, &taken);
    if (!e)
        e = tx_exec(call->tx, SAVE_PRONOUNS_AND_COLORS,
                    BIND(v_id(u.id), v_text(u.pronouns), sql_value_of_optional_text(colors)), NULL);
    if (!e)
        e = delete_previous_picture(call, "banners", u.id, &before.banner, &u.banner);
    if (e)
        return e;
    call_emit_event(call, EVENT_USER_UPDATE, audience_of_user(u.id), &current_user_schema, &u);
    return call_reply_with_object(call, &(struct current_user_profile){ u.pronouns, u.bio, u.banner,
                                                                        u.accent_color, colors });
}
