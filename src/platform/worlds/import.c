/* import.c - a world file into the store, in one transaction. */
#include "platform/worlds/internal.h"

#include "json/read.h"
#include "platform/accounts/accounts.h"
#include "platform/worlds/messages/messages.h"

struct world_import {
    struct store *store;
    const struct world_options *options;
    const struct world_file *file;
    struct arena *arena;
    struct world_report *report;
    struct form form;
    struct list pictures; /* struct world_picture */
    size_t pictures_put;
};

/* --- tokens --------------------------------------------------------------------------- */

/* One that the file names, or a fresh one that somebody wants to see. */
static enum err give_token(struct importing *im, struct str username, const struct opt_str *chosen,
                           const struct place *up)
{
    struct token_wanted wanted = { username, STR("guildhall import"), chosen->value, false };
    struct place at = place_key(up, STR("token"));
    struct world_token t = { .username = username };
    bool found;

    if (chosen->given != GIVEN && !im->options->tokens)
        return OK;
    if (chosen->given == GIVEN && !token_can_be_chosen(chosen->value)) {
        form_fail(im->form, &at, FORM_REGEX);
        return ERR_INVALID_FORM_BODY;
    }
    enum err e = token_renew(im->tx, im->options->auth, &wanted, &found, &t.bot, &t.token);
    if (!e && im->options->tokens)
        *(struct world_token *)list_add(im->arena, &im->report->tokens, sizeof t) = t;
    return e;
}

static enum err give_tokens(struct importing *im, const struct world_file *file)
{
    const struct world_user *users = file->users.value.items;
    const struct world_application *apps = file->applications.value.items;
    struct place all_users = place_key(NULL, STR("users"));
    struct place all_apps = place_key(NULL, STR("applications"));
    enum err e = OK;

    for (size_t i = 0; i < file->users.value.count && !e; i++) {
        struct place at = place_index(&all_users, i);

        if (!users[i].bot.value)
            e = give_token(im, users[i].username, &users[i].token, &at);
    }
    for (size_t i = 0; i < file->applications.value.count && !e; i++) {
        struct place at = place_index(&all_apps, i);

        if (apps[i].bot.given == GIVEN)
            e = give_token(im, apps[i].bot.value, &apps[i].token, &at);
    }
    return e;
}

/* --- pictures ------------------------------------------------------------------------- */

/* Before the commit, so that a picture which cannot be written takes the whole import back. This
 * process has the store for itself: nobody waits for the disk but the import. */
static enum err put_pictures(struct world_import *in)
{
    const struct world_picture *p = in->pictures.items;
    enum err e = OK;

    for (in->pictures_put = 0; in->pictures_put < in->pictures.count && !e; in->pictures_put++)
        e = blob_put(in->store, p[in->pictures_put].name, p[in->pictures_put].bytes);
    return e;
}

/* A picture whose rows did not become part of the world goes. What fails here is looked after
 * when the server starts: unsettled blobs keep a note. */
static void settle_pictures(struct world_import *in, bool imported)
{
    const struct world_picture *p = in->pictures.items;

    for (size_t i = 0; i < in->pictures_put; i++) {
        if (imported)
            blob_settle(in->store, p[i].name);
        else
            blob_delete(in->store, p[i].name);
    }
}

/* --- the file ------------------------------------------------------------------------- */

static void begin_report(struct world_report *report)
{
    static const char *const words[] = {
        [COUNT_USERS] = "users",       [COUNT_APPLICATIONS] = "applications",
        [COUNT_GUILDS] = "guilds",     [COUNT_ROLES] = "roles",
        [COUNT_CHANNELS] = "channels", [COUNT_MEMBERS] = "members",
        [COUNT_MESSAGES] = "messages", [COUNT_RELATIONSHIPS] = "relationships",
        [COUNT_COMMANDS] = "commands",
    };

    *report = (struct world_report){ 0 };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        report->counts[i].what = words[i];
}

#define EACH(list_, struct_, step_) \
    import_each(&im, &f->list_, sizeof(struct struct_), #list_, NULL, step_, 0)

static enum err import_all(struct tx *tx, void *arg)
{
    struct world_import *in = arg;
    const struct world_file *f = in->file;
    struct importing im = { .tx = tx,
                            .arena = in->arena,
                            .options = in->options,
                            .report = in->report,
                            .form = &in->form,
                            .pictures = &in->pictures };

    in->pictures = (struct list){ 0 };
    in->form = (struct form){ .arena = in->arena };
    begin_report(in->report);
    enum err e = EACH(users, world_user, import_user);
    if (!e)
        e = EACH(applications, world_application, import_application);
    if (!e)
        e = EACH(platform_accounts, world_account, import_account);
    if (!e)
        e = EACH(guilds, world_guild, import_guild);
    if (!e)
        e = EACH(applications, world_application, import_entitlements);
    if (!e)
        e = EACH(relationships, world_relationship, import_relationship);
    if (!e)
        e = EACH(directs, world_private, import_direct);
    if (!e)
        e = EACH(groups, world_private, import_group);
    if (!e && form_failed(&in->form))
        return ERR_INVALID_FORM_BODY;
    if (!e)
        e = give_tokens(&im, f);
    return e ? e : put_pictures(in);
}

/* Outside the transaction: it takes long. */
static enum err hash_passwords(const struct world_options *o, struct world_file *file,
                               struct arena *arena)
{
    struct world_user *users = file->users.value.items;

    for (size_t i = 0; i < file->users.value.count; i++) {
        struct world_user *u = &users[i];

        if (u->password.given != GIVEN)
            continue;
        enum err e = password_make(o->password_ops, o->password_memory, arena, u->password.value,
                                   &u->password_hash.value);
        if (e)
            return e;
        u->password_hash.given = GIVEN;
    }
    return OK;
}

static enum err explain_problems(enum err e, const struct form *form, struct str text,
                                 struct arena *arena, struct str *ret)
{
    if (e == ERR_INVALID_JSON)
        *ret = str_printf(arena, "the file: %.*s\n", STR_FMT(json_mistake(text, arena)));
    else if (e == ERR_INVALID_FORM_BODY)
        *ret = layout_problems(form, arena);
    return e;
}

enum err world_check(struct str text, struct arena *arena, struct str *ret_problems)
{
    struct form form = { .arena = arena };
    void *file;

    *ret_problems = STR("");
    return explain_problems(schema_decode(&type_world, text, &form, &file), &form, text, arena,
                            ret_problems);
}

enum err world_import(struct store *store, const struct world_options *options, struct str text,
                      struct arena *arena, struct world_report *ret)
{
    struct world_import in = {
        .store = store, .options = options, .arena = arena, .report = ret, .form = { arena }
    };
    void *file;

    begin_report(ret);
    enum err e = schema_decode(&type_world, text, &in.form, &file);
    if (!e) {
        in.file = file;
        e = hash_passwords(options, file, arena);
    }
    if (!e)
        e = store_run(store, STORE_WRITE, arena, import_all, &in);
    settle_pictures(&in, !e);
    return explain_problems(e, &in.form, text, arena, &ret->problems);
}

/* --- is anything there? --------------------------------------------------------------- */

static enum err find_anybody(struct tx *tx, void *arg)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, "select id from users limit 1", NO_BIND, &row, &found);

    *(bool *)arg = !found;
    return e;
}

enum err world_is_empty(struct store *store, bool *ret)
{
    return store_run(store, STORE_READ, NULL, find_anybody, ret);
}
