/* world.c - import and export of relationships in world files (JSON data sets). */
#include "base/clock.h"
#include "model/user.h"
#include "platform/relationships/relationship_pairs.h"
#include "platform/relationships/relationships.h"
#include "platform/worlds/import_export.h"

/* --- schema --------------------------------------------------------------------------- */

struct world_relationship {
    struct str user, target, type;
    struct opt_str nickname, target_nickname;
    struct opt_int since;
};
static const struct enum_choice relationship_words[] = {
    { 1, "friend", "FRIEND", "" },
    { 2, "blocked", "BLOCKED", "" },
    { 4, "request", "REQUEST", "" },
    { 0 },
};
static const struct type type_relationship_word = { .kind = KIND_STRING,
                                                    .choices = relationship_words };
static const struct field relationship_fields[] = {
    MUST(struct world_relationship, user, type_world_ref),
    MUST(struct world_relationship, target, type_world_ref),
    { FIELD(struct world_relationship, type), .type = &type_relationship_word, .flags = OPTIONAL,
      .fallback_text = "friend" },
    MAYBE(struct world_relationship, nickname, type_display_name),
    MAYBE(struct world_relationship, target_nickname, type_display_name),
    MAYBE(struct world_relationship, since, type_time),
    { 0 },
};

WORLD_OBJECT(relationship, relationship_fields, NULL);

/* --- import --------------------------------------------------------------------------- */

static void set_imported_relationship_row(struct relationship_row *s,
                                          const struct world_relationship *r, int64_t type,
                                          struct opt_str nickname)
{
    if (s->type != type || r->since.given == GIVEN)
        s->since = opt_int_present(r->since.given == GIVEN ? r->since.value : clock_us());
    if (nickname.given == GIVEN)
        s->nickname = nickname;
    s->type = type;
}

/* After a block, the blocked user's row has no type, unless that row is a block, too. */
static enum err save_relationship_pair(struct world_file_importer *im,
                                       const struct world_relationship *r, snowflake user,
                                       snowflake target)
{
    bool friends = str_is(r->type, "friend"), blocked = str_is(r->type, "blocked");
    int64_t mine = friends   ? RELATIONSHIP_FRIEND
                   : blocked ? RELATIONSHIP_BLOCKED
                             : RELATIONSHIP_OUTGOING;
    struct relationship_pair pair;
    enum err e = relationship_pair_read(im->tx, user, target, &pair);

    if (e)
        return e;
    count(im, COUNT_RELATIONSHIPS, pair.mine.type != mine);
    set_imported_relationship_row(&pair.mine, r, mine, r->nickname);
    if (!blocked)
        set_imported_relationship_row(&pair.theirs, r,
                                      friends ? RELATIONSHIP_FRIEND : RELATIONSHIP_INCOMING,
                                      r->target_nickname);
    else if (pair.theirs.type != RELATIONSHIP_BLOCKED)
        pair.theirs = (struct relationship_row){ .ignored = pair.theirs.ignored,
                                                 .note = pair.theirs.note,
                                                 .since = pair.theirs.since };
    e = relationship_row_save(im->tx, user, target, &pair.mine);
    return e ? e : relationship_row_save(im->tx, target, user, &pair.theirs);
}

static enum err import_relationship(struct world_file_importer *im, const void *entry,
                                    const struct json_path *at, snowflake unused)
{
    const struct world_relationship *r = entry;
    struct json_path user_at = json_path_key(at, STR("user")),
                     target_at = json_path_key(at, STR("target"));
    snowflake user = 0, target = 0;
    enum err e = world_file_resolve_reference(im, &user_naming, unused, r->user, &user_at, &user);

    if (!e)
        e = world_file_resolve_reference(im, &user_naming, unused, r->target, &target_at, &target);
    if (e || !user || !target)
        return e;
    if (user == target) {
        form_add_error(im->form, &target_at, "WORLD_SELF",
                       "user and target must be different accounts");
        return OK;
    }
    return save_relationship_pair(im, r, user, target);
}

/* --- export --------------------------------------------------------------------------- */

/* A friendship or request has two rows in the store, but one entry in a world file. */
static const char ALL_RELATIONSHIPS[] =
    "select a.username, b.username, r.type, r.nickname, o.nickname, r.since from relationships r "
    "join users a on a.id = r.user_id join users b on b.id = r.target_id "
    "left join relationships o on o.user_id = r.target_id and o.target_id = r.user_id "
    "and o.type = r.type "
    "where r.type in (2, 4) or (r.type = 1 and r.user_id < r.target_id) "
    "order by r.user_id, r.target_id";

static bool relationship_entry_from_row(struct world_file_exporter *ex, const struct rows *r,
                                        void *entry)
{
    struct world_relationship *x = entry;
    int64_t type = row_int(r, 2);

    *x = (struct world_relationship){
        .user = row_text(r, 0),
        .target = row_text(r, 1),
        .type = type == 1   ? STR("friend")
                : type == 2 ? STR("blocked")
                            : STR("request"),
        .nickname = export_nondefault_text(r, 3, NULL),
        .since = export_nondefault_int(r, 5, -1),
    };
    if (type == 1)
        x->target_nickname = export_nondefault_text(r, 4, NULL);
    (void)ex;
    return true;
}

const struct world_file_fields relationships_world = { (const struct world_file_field[]){
    { NULL, "relationships", &world_relationship_list, .order = 60, .import = import_relationship,
      .select = { &ALL_RELATIONSHIPS }, .read = relationship_entry_from_row },
    { 0 },
} };
