/* world.c - import and export of reactions in world files (JSON data sets). */
#include "platform/reactions/internal.h"

#include "model/text/reaction_text.h"
#include "platform/worlds/import_export.h"

/* --- schema --------------------------------------------------------------------------- */

struct world_reaction {
    struct str emoji;  /* Unicode characters, name:id, or the name of an emoji of the guild */
    struct list users; /* struct str */
};
static const struct field reaction_fields[] = {
    MUST(struct world_reaction, emoji, type_world_name),
    MUST(struct world_reaction, users, type_world_refs),
    { 0 },
};
WORLD_LIST(reaction, reaction_fields, NULL, 0, 20);

/* --- import --------------------------------------------------------------------------- */

static const char EMOJI_BY_NAME[] =
    "select min(e.id), count(*) from emojis e join channels c on c.guild_id = e.guild_id "
    "where c.id = $1 and e.name = $2";
static const char EMOJI_MARKS[] = "select name, animated from emojis where id = $1 union all "
                                  "select name, animated from application_emojis where id = $1";
static const char SAVE_REACTIONS[] =
    "update messages set reactions = $2, reacted = $3 where id = $1";

/* Resolves an emoji: Unicode characters, name:id, or the name of an emoji of the channel's guild.
 */
enum err world_file_resolve_emoji(struct world_file_importer *im, struct str text,
                                  snowflake channel, const struct json_path *at,
                                  struct reaction_emoji_name *ret)
{
    struct rows row;
    bool found;

    if (emoji_name_parse(im->arena, text, ret))
        return OK;
    enum err e = tx_one(im->tx, EMOJI_BY_NAME, BIND(v_id(channel), v_text(text)), &row, &found);
    if (e)
        return e;
    if (row_int(&row, 1) != 1)
        form_add_error(im->form, at, "WORLD_UNKNOWN", "there is no emoji '%.*s'", STR_ARGS(text));
    else
        emoji_name_parse(
            im->arena,
            str_printf(im->arena, "%.*s:%llu", STR_ARGS(text), (unsigned long long)row_id(&row, 0)),
            ret);
    return OK;
}

/* A message of the world file that has reactions, and the reactions text for its row. */
struct reacted_message {
    snowflake id, channel;
    struct buf text;
};

/* Reads the current name of a custom emoji, if the emoji still exists. */
static enum err read_current_emoji(struct world_file_importer *im,
                                   const struct reaction_emoji_name *name,
                                   struct reaction_emoji *ret)
{
    struct rows row;
    bool brought = false;
    enum err e = name->id ? tx_one(im->tx, EMOJI_MARKS, BIND(v_id(name->id)), &row, &brought) : OK;

    *ret =
        (struct reaction_emoji){ { name->id ? GIVEN : GIVEN_NULL, name->id }, name->text, { 0 } };
    if (e || !brought)
        return e;
    ret->name = row_text(&row, 0);
    ret->animated = opt_true_or_absent(row_bool(&row, 1));
    return OK;
}

static enum err insert_imported_reaction(struct world_file_importer *im,
                                         const struct reaction_emoji_name *name,
                                         struct reacted_message *to, const struct list *users)
{
    struct reaction_line line = { .id = snowflake_new(), .key = name->key };
    struct reaction_emoji emoji;
    enum err e = read_current_emoji(im, name, &emoji);

    if (!e)
        e = reaction_insert_row(im->tx, to->id, &line, &emoji);
    for (size_t i = 0; !e && i < users->count; i++) {
        snowflake user = ((snowflake *)users->items)[i];
        bool new = false;

        e = reaction_add_user(im->tx, &(struct message){ .id = to->id, .channel_id = to->channel },
                              line.id, false, user, &new);
        if (new)
            reaction_line_add_user(im->arena, &line, user);
    }
    line.emoji = reaction_emoji_encode(im->arena, &emoji);
    if (line.normal)
        reaction_line_append(&to->text, &line);
    return e;
}

static bool emoji_is_already_imported(const struct reacted_message *to, struct str key)
{
    struct str lines = reaction_text_skip_reader_line(buf_as_str(&to->text));
    struct reaction_line line;

    while (reaction_line_parse_next(&lines, &line))
        if (str_eq(line.key, key))
            return true;
    return false;
}

static enum err import_reaction(struct world_file_importer *im, const struct world_reaction *in,
                                struct reacted_message *to, const struct json_path *up)
{
    struct json_path emoji_at = json_path_key(up, STR("emoji"));
    unsigned before = im->form->problems;
    struct reaction_emoji_name name = { 0 };
    struct list users = { 0 };
    enum err e = world_file_resolve_emoji(im, in->emoji, to->channel, &emoji_at, &name);

    if (!e && name.key.n && emoji_is_already_imported(to, name.key))
        form_add_error(im->form, &emoji_at, "WORLD_TWICE", "the message already has this emoji");
    if (!e)
        e = world_file_resolve_references(
            im, &user_naming, 0, &(struct opt_list){ GIVEN, in->users }, up, "users", &users);
    return e || im->form->problems != before ? e : insert_imported_reaction(im, &name, to, &users);
}

static enum err import_reactions(struct world_file_importer *im, const void *entries,
                                 const struct json_path *all, snowflake message)
{
    const struct opt_list *reactions = entries;
    const struct world_reaction *list = reactions->value.items;
    struct reacted_message to = { .id = message, .channel = im->channel };
    enum err e = OK;

    if (!reactions->value.count)
        return OK;
    buf_init(&to.text, MAX_REACTION_TEXT_BYTES);
    reaction_text_append_reader_line(&to.text);
    for (size_t i = 0; i < reactions->value.count && !e; i++) {
        struct json_path at = json_path_index(all, i);

        e = import_reaction(im, &list[i], &to, &at);
    }
    struct str text = buf_move_to_arena(&to.text, im->arena),
               first = reaction_text_skip_reader_line(text);
    return e || !first.n
               ? e
               : tx_exec(im->tx, SAVE_REACTIONS,
                         BIND(v_id(message), v_text(text), v_int(reaction_text_get_state(text))),
                         NULL);
}

/* --- export --------------------------------------------------------------------------- */

static const char REACTIONS_IN[] =
    "select r.message_id, r.id, r.emoji_id, r.name, u.username from messages m "
    "join reactions r on r.message_id = m.id join reaction_users x on x.reaction_id = r.id "
    "and x.burst = 0 join users u on u.id = x.user_id where m.channel_id = $1 and m.reacted > 0 "
    "order by r.message_id, r.id, x.user_id";

static struct str format_emoji_reference(const struct rows *r)
{
    if (row_column_is_null(r, 2))
        return row_text(r, 3);
    return str_printf(tx_arena(r->tx), "%.*s:%llu", STR_ARGS(row_text(r, 3)),
                      (unsigned long long)row_id(r, 2));
}

static enum err export_reactions(struct world_file_exporter *ex, struct world_file_entries *to)
{
    struct world_reaction *last = NULL;
    snowflake id = 0;
    struct rows r;
    enum err e = tx_query(ex->tx, REACTIONS_IN, BIND(v_id(ex->channel)), &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct opt_list *reactions = world_file_entry_find_field(to, row_id(&r, 0));

        if (!reactions)
            continue; /* the message is not exported */
        if (row_id(&r, 1) != id) {
            id = row_id(&r, 1);
            last = export_add_list_item(ex->tx, reactions, sizeof *last);
            last->emoji = format_emoji_reference(&r);
        }
        *(struct str *)list_append(tx_arena(ex->tx), &last->users, sizeof(struct str)) =
            row_text(&r, 4);
    }
    return rows_end(&r);
}

const struct world_file_fields reactions_world = { (const struct world_file_field[]){
    { "message", "reactions", &world_reaction_list, .order = 20, .whole = true,
      .import = import_reactions, .export_members = export_reactions },
    { 0 },
} };
