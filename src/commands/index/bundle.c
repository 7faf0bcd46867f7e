/* bundle.c - reads, writes and repairs bundles: a bundle is one row with all commands of a guild,
 * or with all global commands. */
#include "commands/index/bundle.h"

#include "api/jobs/internal_call.h"
#include "base/log.h"
#include "commands/internal.h"
#include "model/fields/rows.h"

/* Maximum size of the texts in a bundle row, in bytes. Bundles with longer texts store none,
 * because every change of a command rewrites the row; readers then use the command rows. */
enum { MOST_TEXTS = 256 * 1024 };

/* --- entries of a bundle, read from command rows -------------------------------------- */

/* SQL columns of a bundle entry. The text columns are not selected, so that SQLite does not read
 * their overflow pages. */
static const char READ_COLUMNS[] =
    "select id, version, default_member_permissions, locales, type, nsfw, contexts, "
    "integration_types from commands where application_id = $1 and guild_id = $2 order by id";

static void bundle_entry_from_row(const struct rows *r, void *ret)
{
    *(struct command_bundle_entry *)ret = (struct command_bundle_entry){
        .id = row_id(r, 0),
        .version = row_id(r, 1),
        .default_member_permissions =
            row_column_is_null(r, 2) ? BUNDLE_NO_DEFAULT_PERMISSIONS : row_id(r, 2),
        .locales = (uint64_t)row_int(r, 3),
        .type = (uint8_t)row_int(r, 4),
        .nsfw = (uint8_t)row_int(r, 5),
        .contexts = (uint8_t)row_int(r, 6),
        .integration_types = (uint8_t)row_int(r, 7),
    };
}

/* Reads the entries of a bundle (struct command_bundle_entry) from the command rows, without the
 * lengths of their texts. */
static enum err read_bundle_entries(struct tx *tx, snowflake application_id, snowflake guild_id,
                                    struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, READ_COLUMNS, BIND(v_id(application_id), v_id(guild_id)),
                        sizeof(struct command_bundle_entry), bundle_entry_from_row, ret);
}

/* --- reading -------------------------------------------------------------------------- */

enum err command_bundle_decode_columns(struct tx *tx, snowflake application_id, snowflake guild_id,
                                       struct str entries, struct str texts,
                                       struct command_bundle *ret)
{
    struct list made;

    *ret = (struct command_bundle){ .application_id = application_id,
                                    .guild_id = guild_id,
                                    .texts = texts };
    if (decode_command_bundle_entries(tx_arena(tx), entries, texts, &ret->entries, &ret->count))
        return OK;
    log_warn("commands: the command list of application %llu in guild %llu has an old format or "
             "is damaged; it will be rebuilt",
             (unsigned long long)application_id, (unsigned long long)guild_id);
    enum err e = read_bundle_entries(tx, application_id, guild_id, &made);
    if (e)
        return e;
    ret->entries = made.items;
    ret->count = made.count;
    ret->texts = (struct str){ 0 };
    ret->unreadable = true;
    return OK;
}

static const char FIND_BUNDLE[] =
    "select entries, texts from command_lists where application_id = $1 and guild_id = $2";

enum err read_command_bundle(struct tx *tx, snowflake application_id, snowflake guild_id,
                             struct command_bundle *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, FIND_BUNDLE, BIND(v_id(application_id), v_id(guild_id)), &row, &found);

    *ret = (struct command_bundle){ .application_id = application_id, .guild_id = guild_id };
    if (e || !found)
        return e;
    return command_bundle_decode_columns(tx, application_id, guild_id, row_bytes(&row, 0),
                                         row_text(&row, 1), ret);
}

/* --- walking -------------------------------------------------------------------------- */

static const char READ_TEXTS[] =
    "select id, plain from commands where application_id = $1 and guild_id = $2 order by id";

/* Returns whether the text is a JSON object. Readers insert fields before its closing brace. */
static bool is_json_object(struct str text)
{
    return text.n >= 2 && text.p[0] == '{' && text.p[text.n - 1] == '}';
}

static bool bundle_texts_are_in_command_rows(const struct command_bundle *b)
{
    return b->count && !b->texts.n;
}

enum err command_bundle_iterator_begin(struct tx *tx, const struct command_bundle *b,
                                       struct command_bundle_iterator *ret)
{
    *ret = (struct command_bundle_iterator){ .bundle = b, .text = b->texts.p };
    if (!bundle_texts_are_in_command_rows(b))
        return OK;
    return tx_query(tx, READ_TEXTS, BIND(v_id(b->application_id), v_id(b->guild_id)), &ret->rows);
}

/* Advances to the command row with this id. Both rows and entries are sorted by id. */
static bool advance_to_command_row(struct command_bundle_iterator *w, snowflake id, struct str *ret)
{
    while (!w->at_row || row_id(&w->rows, 0) < id) {
        w->at_row = rows_next(&w->rows);
        if (!w->at_row)
            return false;
    }
    *ret = row_text(&w->rows, 1);
    return row_id(&w->rows, 0) == id && is_json_object(*ret);
}

bool command_bundle_iterator_next(struct command_bundle_iterator *w,
                                  const struct command_bundle_entry **ret, struct str *ret_text)
{
    const struct command_bundle *b = w->bundle;

    while (w->next < b->count) {
        *ret = &b->entries[w->next++];
        if (!bundle_texts_are_in_command_rows(b)) {
            *ret_text = str_slice(w->text, (*ret)->length);
            w->text += (*ret)->length + 1;
            return true;
        }
        if (advance_to_command_row(w, (*ret)->id, ret_text))
            return true;
    }
    return false;
}

enum err command_bundle_iterator_end(struct command_bundle_iterator *w)
{
    return bundle_texts_are_in_command_rows(w->bundle) ? rows_end(&w->rows) : OK;
}

/* --- writing -------------------------------------------------------------------------- */

static const char OLD_ENTRIES[] =
    "select entries from command_lists where application_id = $1 and guild_id = $2";

/* Reads the entries of the stored bundle. *ret is empty if there is no stored bundle. */
static enum err read_stored_bundle_entries(struct tx *tx, snowflake application_id,
                                           snowflake guild_id, struct command_bundle *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, OLD_ENTRIES, BIND(v_id(application_id), v_id(guild_id)), &row, &found);

    *ret = (struct command_bundle){ 0 };
    if (!e && found)
        ret->unreadable = !decode_command_bundle_entries(
            tx_arena(tx), row_bytes(&row, 0), (struct str){ 0 }, &ret->entries, &ret->count);
    return e;
}

static const char TEXTS_OF_COMMAND[] =
    "select c.plain, d.definition from commands c join command_definitions d "
    "on d.command_id = c.id where c.id = $1";

static enum err read_bundle_entry_sizes(struct tx *tx, struct command_bundle_entry *k)
{
    struct rows rows;
    enum err e = tx_query(tx, TEXTS_OF_COMMAND, BIND(v_id(k->id)), &rows);

    if (e)
        return e;
    /* Texts need not stay valid after the next row is read, because only their lengths are used. */
    rows.lent = true;
    if (rows_next(&rows) && is_json_object(row_text(&rows, 0))) {
        k->length = (uint32_t)row_text(&rows, 0).n;
        k->size = (uint32_t)row_text(&rows, 1).n;
    }
    return rows_end(&rows);
}

/* Reads the text lengths of the commands that have changed. A command with an unchanged version has
 * the same texts as before. */
static enum err read_changed_bundle_entry_sizes(struct tx *tx, struct list *list,
                                                const struct command_bundle *bundle)
{
    const struct command_bundle_entry *old = bundle->entries;
    struct command_bundle_entry *k = list->items;
    size_t at = 0;
    enum err e = OK;

    for (size_t i = 0; i < list->count && !e; i++) {
        while (at < bundle->count && old[at].id < k[i].id)
            at++;
        if (at < bundle->count && old[at].id == k[i].id && old[at].version == k[i].version) {
            k[i].length = old[at].length;
            k[i].size = old[at].size;
        } else {
            e = read_bundle_entry_sizes(tx, &k[i]);
        }
    }
    return e;
}

/* Removes the entries of commands whose text is unreadable. */
static size_t remove_unreadable_bundle_entries(struct command_bundle_entry *k, size_t count)
{
    size_t left = 0;

    for (size_t i = 0; i < count; i++) {
        if (k[i].length)
            k[left++] = k[i];
        else
            log_warn("commands: the definition of command %llu is damaged; it is not listed",
                     (unsigned long long)k[i].id);
    }
    return left;
}

/* Joins the JSON texts of the commands with commas. *ret stays empty above MOST_TEXTS bytes. */
static enum err concatenate_command_texts(struct tx *tx, const struct command_bundle *b,
                                          struct buf *ret)
{
    const struct command_bundle_entry *k;
    struct command_bundle_iterator walk;
    struct str text;
    size_t length = 0;

    for (size_t i = 0; i < b->count; i++)
        length += b->entries[i].length + 1;
    if (length > MOST_TEXTS)
        return OK;
    enum err e = command_bundle_iterator_begin(tx, b, &walk);
    if (e)
        return e;
    walk.rows.lent = true;
    while (command_bundle_iterator_next(&walk, &k, &text)) {
        if (ret->n)
            buf_add_char(ret, ',');
        buf_add_str(ret, text);
    }
    e = command_bundle_iterator_end(&walk);
    return e || !buf_is_full(ret) ? e : ERR_INTERNAL; /* a full buffer means wrong lengths */
}

static const char SET_BUNDLE[] =
    "insert into command_lists (application_id, guild_id, entries, texts) "
    "values ($1, $2, $3, $4) on conflict (application_id, guild_id) do update set "
    "entries = excluded.entries, texts = excluded.texts";

static enum err write_bundle_row(struct tx *tx, const struct command_bundle *b)
{
    struct str entries = encode_command_bundle_entries(tx_arena(tx), b->entries, b->count);
    struct buf texts;

    buf_init(&texts, MOST_TEXTS);
    enum err e = concatenate_command_texts(tx, b, &texts);
    if (!e)
        e = tx_exec(tx, SET_BUNDLE,
                    BIND(v_id(b->application_id), v_id(b->guild_id), v_bytes(entries),
                         v_text(texts.n ? buf_as_str(&texts) : STR(""))),
                    NULL);
    buf_clear(&texts);
    return e;
}

static const char DELETE_BUNDLE[] =
    "delete from command_lists where application_id = $1 and guild_id = $2";

static size_t sum_definition_sizes(const struct command_bundle *b)
{
    size_t sum = 0;

    for (size_t i = 0; i < b->count; i++)
        sum += b->entries[i].size;
    return sum;
}

enum err rewrite_command_bundle(struct tx *tx, snowflake application_id, snowflake guild_id,
                                size_t *ret_grown)
{
    struct command_bundle old, b = { .application_id = application_id, .guild_id = guild_id };
    struct list made = { 0 };

    enum err e = read_stored_bundle_entries(tx, application_id, guild_id, &old);
    if (!e)
        e = read_bundle_entries(tx, application_id, guild_id, &made);
    if (!e)
        e = read_changed_bundle_entry_sizes(tx, &made, &old);
    if (e)
        return e;
    b.entries = made.items;
    b.count = remove_unreadable_bundle_entries(made.items, made.count);
    size_t size = sum_definition_sizes(&b);
    *ret_grown = !old.unreadable && size > sum_definition_sizes(&old) ? size : 0;
    tx_mark_row_changed(tx, VERSIONED_COMMANDS, application_id);
    if (b.count)
        return write_bundle_row(tx, &b);
    return tx_exec(tx, DELETE_BUNDLE, BIND(v_id(application_id), v_id(guild_id)), NULL);
}

/* --- repairing ------------------------------------------------------------------------ */

struct bundle_scope {
    snowflake application_id, guild_id;
};

static enum err rewrite_scope_bundle(struct call *call)
{
    const struct bundle_scope *scope = call_get_stage_data(call, "bundle_scope");
    size_t grown;

    return rewrite_command_bundle(call->tx, scope->application_id, scope->guild_id, &grown);
}

static void start_command_bundle_repairs(struct call *call)
{
    const struct list *scopes = call_get_stage_data(call, "list");

    for (size_t i = 0; i < scopes->count; i++) {
        struct internal_call task = {
            .store = ROUTE_STORE_WRITE,
            .run = rewrite_scope_bundle,
            .type = "bundle_scope",
            .data = (const struct bundle_scope *)scopes->items + i,
            .size = sizeof(struct bundle_scope),
        };

        internal_call_start(call->api, call->loop, &task);
    }
}

void schedule_command_bundle_repair(struct call *call, const struct command_bundle *b)
{
    if (!call->after)
        call_store_stage_data(call, "list", sizeof(struct list));
    call->after = start_command_bundle_repairs;
    struct list *scopes = call_get_stage_data(call, "list");
    struct bundle_scope *scope = list_append(call->arena, scopes, sizeof *scope);
    *scope = (struct bundle_scope){ b->application_id, b->guild_id };
}
