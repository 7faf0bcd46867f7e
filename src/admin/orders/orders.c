/* orders.c - the operator's orders: the table, and how one is carried out. */
#include <pthread.h>
#include <string.h>

#include "api/jobs/errand.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "admin/orders/internal.h"
#include "platform/accounts/accounts.h"

/* clang-format off */
#define USER_STATE     "&id\t$name\t$state"
#define GUILD_STATE    "&id\t$name\t$state"
#define BAN            "&id\t$range\t@since\t$reason"
#define INVITE         "&id\t$begins\t#uses_left\t@made\t@until"
#define PURGE          "&id\t$name\t$state\t#deleted\t@reached"
#define REPORT         "&id\t@made\t$reason\t&channel\t&message\t&author_id\t&reporter_id"
#define UNKNOWN_GUILD  "there is no guild with that id"
#define UNKNOWN_APP    "there is no application with that id"

const struct order_row operator_rows[] = {
    { "user", "list", "", "Accounts, by id", 0, 0, .is_list = true,
      .columns = "&id\t$name\t$email\t?bot\t#premium\t$state",
      .query = SQL_TEXT("select id, username, coalesce(email, ''), bot, premium_type, "
          "case when deleting <> 0 and disabled <> 0 then 'deleted' when deleting <> 0 then "
          "'deleting' when disabled <> 0 then 'disabled' else 'active' end from users "
          "where id > $1 order by id limit $2") },
    { "user", "show", "NAME", "One account", 1, 1, .run = order_user_show,
      .columns = "&id\t$name\t$email\t?bot\t#premium\t$state\t@since\t#guilds\t#owns\t#apps\t"
          "#tokens\t#bytes" },
    { "user", "add", "NAME [bot]", "Make an account and print its token", 1, 2, .writes = true,
      .run = order_user_add, .columns = "&id\t$token" },
    { "user", "passwd", "NAME", "Set a password; every token and session ends", 2, 2,
      .writes = true, .has_secret = true, .run = order_user_passwd, .columns = USER_STATE },
    { "user", "disable", "NAME", "Keep an account out; its tokens and sessions end", 1, 1,
      .writes = true, .run = order_user_disable, .columns = USER_STATE },
    { "user", "enable", "NAME", "Let an account in again", 1, 1, .writes = true,
      .run = order_user_enable, .columns = USER_STATE },
    { "user", "delete", "NAME", "Delete an account in 14 days; what it wrote stays", 1, 1,
      .writes = true, .run = order_user_delete, .columns = USER_STATE },
    { "user", "restore", "NAME", "Take back that an account is deleted", 1, 1, .writes = true,
      .run = order_user_restore, .columns = USER_STATE },
    { "user", "export", "NAME", "Gather what is kept about a person in a file", 1, 1,
      .writes = true, .run = order_user_export,
      .columns = "&id\t$name\t$state\t#bytes\t$file" },
    { "user", "erase", "NAME", "Delete an account at once; what it wrote stays", 1, 1,
      .writes = true, .is_final = true, .run = order_user_erase, .columns = USER_STATE },
    { "user", "mfa-off", "NAME", "Ask an account for no second factor any more", 1, 1,
      .writes = true, .run = order_user_mfa_off, .columns = USER_STATE },
    { "user", "premium", "NAME 0-3", "Set the premium type of an account", 2, 2, .writes = true,
      .run = order_user_premium, .columns = USER_STATE },
    { "guild", "list", "", "Guilds, by id", 0, 0, .is_list = true,
      .columns = "&id\t$name\t$owner\t#members",
      .query = SQL_TEXT("select g.id, g.name, u.username, g.member_count from guilds g join users "
          "u on u.id = g.owner_id where g.removed = 0 and g.id > $1 order by g.id limit $2") },
    { "guild", "show", "ID", "One guild", 1, 1, .unknown = UNKNOWN_GUILD,
      .columns = "&id\t$name\t$owner\t#members\t#channels\t#roles",
      .query = SQL_TEXT("select g.id, g.name, u.username, g.member_count, "
          "(select count(*) from channels c where c.guild_id = g.id and c.thread_archived = 0), "
          "(select count(*) from roles r where r.guild_id = g.id) "
          "from guilds g join users u on u.id = g.owner_id where g.removed = 0 and g.id = $1") },
    { "guild", "owner", "ID NAME", "Give a guild to one of its members", 2, 2, .writes = true,
      .run = order_guild_owner, .columns = GUILD_STATE, .unknown = UNKNOWN_GUILD },
    { "guild", "delete", "ID", "Delete a guild and all that is in it", 1, 1, .writes = true,
      .is_final = true, .run = order_guild_delete, .columns = GUILD_STATE,
      .unknown = UNKNOWN_GUILD },
    { "app", "list", "", "Applications, by id", 0, 0, .is_list = true,
      .columns = "&id\t$name\t$owner\t$bot",
      .query = SQL_TEXT("select a.id, a.name, u.username, coalesce(b.username, '') from "
          "applications a join users u on u.id = a.owner_id left join users b on b.id = a.bot_id "
          "where a.removed = 0 and a.id > $1 order by a.id limit $2") },
    { "app", "show", "ID", "One application", 1, 1, .unknown = UNKNOWN_APP,
      .columns = "&id\t$name\t$owner\t$bot\t$endpoint\t#guilds\t#commands",
      .query = SQL_TEXT("select a.id, a.name, u.username, coalesce(b.username, ''), "
          "coalesce(a.interactions_endpoint_url, ''), "
          "(select count(*) from members m where m.user_id = a.bot_id), "
          "(select count(*) from commands c where c.application_id = a.id) "
          "from applications a join users u on u.id = a.owner_id left join users b on "
          "b.id = a.bot_id where a.removed = 0 and a.id = $1") },
    { "app", "token", "ID", "A new token for its bot; the old one ends", 1, 1, .writes = true,
      .is_final = true, .run = order_app_token, .columns = "&id\t$token",
      .unknown = UNKNOWN_APP },
    { "token", "revoke", "NAME", "End every token and session of an account", 1, 1,
      .writes = true, .run = order_token_revoke, .columns = USER_STATE },
    { "invite", "create", "[USES [DAYS]]", "A code to register with; once, within 7 days", 0, 2,
      .writes = true, .run = order_invite_create, .columns = "$code\t#uses\t@until\t&id" },
    { "invite", "list", "", "Codes that are good, by id, without the codes themselves", 0, 0,
      .is_list = true, .run = order_invite_list, .columns = INVITE },
    { "invite", "revoke", "ID|CODE", "End a code to register with", 1, 1, .writes = true,
      .run = order_invite_revoke, .columns = INVITE },
    { "message", "show", "LINK|CHANNEL MESSAGE", "One message; this is noted in the log", 1, 2,
      .writes = true, .run = order_message_show,
      .columns = "&id\t&channel\t&guild\t&author_id\t$author\t@written\t@edited\t$files\t"
          "$content\t$embeds" },
    { "message", "delete", "LINK|CHANNEL MESSAGE", "Delete a message and its files", 1, 2,
      .writes = true, .is_final = true, .run = order_message_delete,
      .columns = "&id\t&channel\t$state" },
    { "message", "purge", "NAME", "Delete all messages of an account, in the background", 1, 1,
      .writes = true, .is_final = true, .run = order_message_purge, .columns = PURGE },
    { "message", "purging", "NAME", "How far that is", 1, 1, .run = order_message_purging,
      .columns = PURGE },
    { "file", "show", "LINK|ID", "A file of a message, and its path in the data folder", 1, 1,
      .writes = true, .run = order_file_show,
      .columns = "&id\t$name\t$type\t#bytes\t&channel\t&message\t&author_id\t$blob\t#messages" },
    { "file", "delete", "LINK|ID", "Delete a file in every message that has it", 1, 1,
      .writes = true, .is_final = true, .run = order_file_delete,
      .columns = "&id\t$state\t#messages" },
    { "report", "list", "", "Reported messages that nobody has closed, by id", 0, 0,
      .is_list = true, .run = order_report_list, .columns = REPORT },
    { "report", "show", "ID", "A report, with the message as it was", 1, 1,
      .run = order_report_show,
      .columns = REPORT "\t&guild\t$comment\t@closed\t$resolution\t$snapshot" },
    { "report", "close", "ID [WHY]", "Close a report; it is deleted 90 days later", 1, 2,
      .writes = true, .run = order_report_close, .columns = "&id\t$state" },
    { "ban", "list", "", "Banned address ranges, by id", 0, 0, .is_list = true,
      .run = order_ban_list, .columns = BAN },
    { "ban", "add", "RANGE [WHY]", "Ban addresses (192.0.2.0/24); their sessions end", 1, 2,
      .writes = true, .run = order_ban_add, .columns = BAN },
    { "ban", "lift", "ID", "Let the addresses of a ban in again", 1, 1, .writes = true,
      .run = order_ban_lift, .columns = BAN },
    { "stats", NULL, "", "How much there is", 0, 0, .run = order_stats,
      .columns = "$version\t$store\t#people\t#bots\t#disabled\t#guilds\t#apps\t#tokens\t"
          "#file_bytes\t#sessions\t#connected" },
    { "log", NULL, "", "What the operator changed, by id", 0, 0, .is_list = true,
      .columns = "&id\t@at\t#uid\t$command",
      .query = SQL_TEXT("select id, at, uid, command from operator_log where id > $1 order by id "
          "limit $2") },
    { 0 },
};
/* clang-format on */

const struct order_row *order_row_find(struct str noun, struct str verb)
{
    for (const struct order_row *r = operator_rows; r->noun; r++)
        if (str_is(noun, r->noun) && (r->verb ? str_is(verb, r->verb) : verb.n == 0))
            return r;
    return NULL;
}

/* --- reading a question --------------------------------------------------------------- */

static bool read_page(struct order *o, struct str *rest)
{
    struct str after = str_cut(rest, '\t'), limit = str_cut(rest, '\t');

    return str_to_u64(after, &o->after) && str_to_i64(limit, &o->limit) && o->limit >= 1 &&
           o->limit <= ORDER_PAGE;
}

/* NULL: it was understood. */
static const char *read_order(struct order *o, struct str question)
{
    struct str rest = question, noun = str_cut(&rest, '\t'), verb = str_cut(&rest, '\t');

    if (!utf8_valid(question))
        return "that is not UTF-8";
    o->row = order_row_find(noun, verb);
    if (!o->row)
        return "there is no such order";
    if (o->row->is_list && !read_page(o, &rest))
        return "--after is an id";
    while (rest.n && o->count < ORDER_WORDS)
        o->words[o->count++] = str_cut(&rest, '\t');
    if (rest.n || o->count < o->row->least || o->count > o->row->most)
        return "it has too few words, or too many";
    return NULL;
}

/* --- carrying it out ------------------------------------------------------------------ */

/* An order on its way through a loop; whoever gave it waits. */
struct order_errand {
    struct order order;
    struct api *api;
    struct loop *loop;
    struct post post;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool is_ended;
    enum err result;
};

static enum err order_run(struct call *call)
{
    struct order *o = &((struct order_errand *)call_passed(call, "order_errand"))->order;
    enum err e;

    buf_reset(&o->out);
    o->problem = NULL;
    buf_printf(&o->out, "%s\n", o->row->columns);
    e = o->row->run ? o->row->run(call, o) : order_query(call, o);
    if (!e && o->row->writes)
        e = order_note(call, o);
    return e;
}

static void order_done(struct call *call, enum err e, void *arg)
{
    struct order_errand *w = arg;

    (void)call;
    pthread_mutex_lock(&w->lock);
    w->result = e;
    w->is_ended = true;
    pthread_cond_signal(&w->ended);
    pthread_mutex_unlock(&w->lock);
}

static void order_begin(struct post *p)
{
    struct order_errand *w = container_of(p, struct order_errand, post);

    errand_start(w->api, w->loop,
                 &(struct errand){
                     .name = "operator",
                     .store = w->order.row->writes ? ROUTE_STORE_WRITE : ROUTE_STORE_READ,
                     .run = order_run,
                     .done = order_done,
                     .type = "order_errand",
                     .data = w,
                     .arg = w,
                 });
}

static enum err order_wait(struct order_errand *w)
{
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->ended, NULL);
    w->post.run = order_begin;
    loop_post(w->loop, &w->post);
    pthread_mutex_lock(&w->lock);
    while (!w->is_ended)
        pthread_cond_wait(&w->ended, &w->lock);
    pthread_mutex_unlock(&w->lock);
    pthread_cond_destroy(&w->ended);
    pthread_mutex_destroy(&w->lock);
    return w->result;
}

/* The interface's own rule; the word is not kept. */
static enum err hash_secret(struct order_errand *w, struct arena *arena)
{
    struct order *o = &w->order;
    const struct api_options *options = api_options(w->api);
    struct str password = o->words[--o->count];

    if (password.n < 8 || password.n > 72) {
        o->problem = "a password has 8-72 bytes";
        return ERR_BAD_REQUEST;
    }
    return password_make(options->password_ops, options->password_memory, arena, password,
                         &o->password_hash);
}

void operator_answer(struct api *api, struct loop *loop, unsigned uid, struct str question,
                     struct buf *out)
{
    struct order_errand w = { .api = api, .loop = loop, .order.uid = uid };
    struct arena *arena = arena_new();
    enum err e = ERR_BAD_REQUEST;

    buf_init(&w.order.out, 1024 * 1024);
    w.order.problem = read_order(&w.order, question);
    if (!w.order.problem)
        e = w.order.row->has_secret ? hash_secret(&w, arena) : OK;
    if (!e)
        e = order_wait(&w);
    if (!e && buf_full(&w.order.out))
        e = ERR_ENTITY_TOO_LARGE;
    if (e)
        buf_printf(out, "error %s\n", w.order.problem ? w.order.problem : error_info(e)->message);
    else
        buf_printf(out, "ok\n%.*s", STR_FMT(buf_str(&w.order.out)));
    if (!e && w.order.row->writes)
        log_info("operator: %s %s by user %u", w.order.row->noun, w.order.row->verb, uid);
    buf_clear(&w.order.out);
    arena_free(arena);
}
