/* orders.c - the table of operator commands, and their execution. */
#include <pthread.h>
#include <string.h>

#include "api/jobs/errand.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "admin/console/workbench.h"
#include "admin/orders/internal.h"
#include "platform/accounts/accounts.h"

enum { MOST_ANSWER = 128 * 1024 * 1024 };

/* clang-format off */
#define USER_STATE     "&id\t$name\t$state"
#define GUILD_STATE    "&id\t$name\t$state"
#define BAN            "&id\t$range\t@since\t$reason"
#define INVITE         "&id\t$begins\t#uses_left\t@made\t@until"
#define PURGE          "&id\t$name\t$state\t#deleted\t@reached"
#define REPORT         "&id\t@made\t$reason\t&channel\t&message\t&author_id\t&reporter_id"
#define CLOCK          "@now\t#moved_ms"
#define FAULT          "#id\t$method\t$path\t#status\t#delay_ms\t#retry_after_ms\t#times\t?drop\t#hits"
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
    { "sessions", NULL, "", "Sessions of the gateway", 0, 0, .gather = order_sessions },
    { "sessions", "voice", "", "Who is connected to voice", 0, 0, .gather = order_sessions_voice },
    { "sessions", "drop", "NAME|ID [CODE]", "Close its socket", 1, 2,
      .run = order_sessions_push },
    { "sessions", "reconnect", "NAME|ID", "Send op 7", 1, 2, .run = order_sessions_push },
    { "sessions", "invalidate", "NAME|ID", "Send op 9", 1, 2, .run = order_sessions_push },
    { "sessions", "resumable", "NAME|ID", "Send op 9 with true", 1, 2,
      .run = order_sessions_push },
    { "sessions", "push", "WHO JSON", NULL, 2, 2, .body = &order_push_type,
      .run = order_sessions_push },
    { "health", NULL, "", "Figures of the last hour", 0, 0, .run = order_health },
    { "clock", NULL, "", "What the server takes for now", 0, 0, .run = order_clock,
      .columns = CLOCK },
    { "clock", "move", "JSON", NULL, 1, 1, .for_tests = true, .body = &order_clock_type,
      .run = order_clock_move, .columns = CLOCK },
    { "fault", NULL, "", "Faults that wait for a call", 0, 0, .is_array = true,
      .run = order_fault_list, .columns = FAULT },
    { "fault", "add", "JSON", NULL, 1, 1, .for_tests = true, .body = &order_fault_type,
      .run = order_fault_add, .columns = FAULT },
    { "fault", "clear", "[ID]", "Take all faults back, or one", 0, 1, .for_tests = true,
      .run = order_fault_clear },
    { "snapshot", NULL, "", "Snapshots, by name", 0, 0, .gather = order_snapshot_list,
      .columns = "$name\t#bytes\t@made_at" },
    { "snapshot", "make", "NAME", NULL, 0, 1, .gather = order_snapshot_make, .columns = "$answer" },
    { "snapshot", "restore", "NAME", NULL, 0, 1, .gather = order_snapshot_restore,
      .columns = "$answer" },
    { "snapshot", "restored", "", NULL, 0, 0, .gather = order_snapshot_count,
      .columns = "#tried\t#restored" },
    { "snapshot", "delete", "NAME", NULL, 1, 1, .gather = order_snapshot_delete,
      .columns = "$answer" },
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

static bool read_page(struct order *o, struct str *rest)
{
    struct str after = str_cut(rest, '\t'), limit = str_cut(rest, '\t');

    return str_to_u64(after, &o->after) && str_to_i64(limit, &o->limit) && o->limit >= 1 &&
           o->limit <= ORDER_PAGE;
}

/* Decodes the last argument with the row's type. Returns an error sentence, or NULL. */
static const char *read_body(struct order *o)
{
    struct form form = { .arena = o->arena };
    struct buf problem;
    void *body;

    if (!schema_decode(o->row->body, o->words[--o->count], &form, &body)) {
        o->body = body;
        return NULL;
    }
    buf_init(&problem, 4096);
    form_first(&form, &problem);
    return str_dupz(o->arena, buf_take(&problem, o->arena));
}

/* Parses a request. Returns an error sentence, or NULL. */
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
    return o->row->body ? read_body(o) : NULL;
}

/* Moves the command's output to the arena. */
static enum err order_take(struct order *o, enum err e)
{
    if (!e && buf_full(&o->out))
        e = ERR_ANSWER_TOO_LARGE;
    if (!e)
        o->answer = buf_take(&o->out, o->arena);
    buf_clear(&o->out);
    return e;
}

enum err order_gather(struct order *o)
{
    return order_take(o, o->row->gather(o));
}

enum err order_run(struct call *call, struct order *o)
{
    const struct order_row *row = o->row;

    if (row->gather)
        return OK;
    o->problem = NULL;
    return order_take(o, row->run ? row->run(call, o) : order_query(call, o));
}

void order_write_answer(const struct order *o, struct buf *out)
{
    if (o->row->columns && !o->as_json)
        buf_printf(out, "%s\n", o->row->columns);
    buf_printf(out, o->as_json && o->row->is_array ? "[%.*s]" : "%.*s", STR_FMT(o->answer));
}

/* A command that runs on a loop while the control thread waits. */
struct order_errand {
    struct order order;
    struct loop *loop;
    struct post post;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool is_ended;
    enum err result;
};

static enum err order_errand_run(struct call *call)
{
    struct order *o = &((struct order_errand *)call_passed(call, "order_errand"))->order;
    enum err e = order_run(call, o);

    return !e && o->row->writes ? order_note(call, o) : e;
}

static void order_done(struct call *call, enum err e, void *arg)
{
    struct order_errand *w = arg;
    struct order *o = &w->order;

    if (form_failed(&call->form) && !o->problem) {
        form_first(&call->form, &o->out);
        o->problem = str_dupz(o->arena, buf_take(&o->out, o->arena));
    }
    pthread_mutex_lock(&w->lock);
    w->result = e;
    w->is_ended = true;
    pthread_cond_signal(&w->ended);
    pthread_mutex_unlock(&w->lock);
}

static void order_begin(struct post *p)
{
    struct order_errand *w = container_of(p, struct order_errand, post);

    errand_start(w->order.api, w->loop,
                 &(struct errand){
                     .name = "operator",
                     .store = w->order.row->writes ? ROUTE_STORE_WRITE : ROUTE_STORE_READ,
                     .run = order_errand_run,
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

/* Applies the API's length rule and hashes the password, which is not stored. */
static enum err hash_secret(struct order *o)
{
    const struct api_options *options = api_options(o->api);
    struct str password = o->words[--o->count];

    if (password.n < 8 || password.n > 72)
        return order_refuse(o, ERR_BAD_REQUEST, "a password has 8-72 bytes");
    return password_make(options->password_ops, options->password_memory, o->arena, password,
                         &o->password_hash);
}

static enum err order_carry_out(struct order_errand *w)
{
    struct order *o = &w->order;
    enum err e = OK;

    if (o->row->for_tests && !workbench_has_controls(api_options(o->api)->workbench))
        return order_refuse(o, ERR_FORBIDDEN,
                            "this server has no workbench: it is neither a demo nor run with "
                            "--workbench on");
    if (o->row->has_secret)
        e = hash_secret(o);
    if (!e && o->row->gather)
        return order_gather(o);
    return e ? e : order_wait(w);
}

void operator_answer(const struct order_server *server, unsigned uid, struct str question,
                     bool as_json, struct buf *out)
{
    struct order_errand w = { .loop = server->loop };
    struct order *o = &w.order;
    enum err e = ERR_BAD_REQUEST;

    *o = (struct order){ .api = server->api,
                         .relay = server->relay,
                         .arena = arena_new(),
                         .uid = uid,
                         .as_json = as_json };
    buf_init(&o->out, MOST_ANSWER);
    o->problem = read_order(o, question);
    if (!o->problem)
        e = order_carry_out(&w);
    if (e)
        buf_printf(out, "error %d %s\n", error_info(e)->status,
                   o->problem ? o->problem : error_info(e)->message);
    else {
        buf_add_lit(out, "ok\n");
        order_write_answer(o, out);
    }
    if (!e && o->row->writes)
        log_info("operator: %s %s by user %u", o->row->noun, o->row->verb, uid);
    arena_free(o->arena);
}
