/* operator_commands.c - the table of operator commands, and their execution. */
#include <pthread.h>
#include <string.h>

#include "api/jobs/internal_call.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "admin/console/workbench.h"
#include "admin/operator_commands/internal.h"
#include "platform/accounts/accounts.h"

enum { COMMAND_OUTPUT_MAX_BYTES = 128 * 1024 * 1024 };

/* clang-format off */
#define COLUMNS_USER_STATE     "&id\t$name\t$state"
#define COLUMNS_GUILD_STATE    "&id\t$name\t$state"
#define COLUMNS_BAN            "&id\t$range\t@since\t$reason"
#define COLUMNS_ANNOUNCEMENT   "&id\t$content\t@until"
#define COLUMNS_INVITE         "&id\t$begins\t#uses_left\t@made\t@until"
#define COLUMNS_PURGE          "&id\t$name\t$state\t#deleted\t@reached"
#define COLUMNS_REPORT         "&id\t@made\t$reason\t&channel\t&message\t&author_id\t&reporter_id"
#define COLUMNS_CLOCK          "@now\t#moved_ms"
#define COLUMNS_FAULT          "#id\t$method\t$path\t#status\t#delay_ms\t#retry_after_ms\t#times\t?drop\t#hits"
#define TEXT_UNKNOWN_GUILD  "there is no guild with this id"
#define TEXT_UNKNOWN_APP    "there is no application with this id"

/* Row for a command of copy-guild --follow, which applies changes of the guild on the server from
 * which it is copied. */
#define MIRROR_ROW(verb, arguments, count, function) \
    { "guild", verb, arguments, NULL, count, count, .writes = true, .is_frequent = true, \
      .run = function, .columns = "$state" },

const struct operator_command_row operator_command_rows[] = {
    { "user", "list", "", "List accounts by id", 0, 0, .is_list = true,
      .columns = "&id\t$name\t$email\t?bot\t#premium\t$state",
      .query = SQL_TEXT("select id, username, coalesce(email, ''), bot, premium_type, "
          "case when deleting <> 0 and disabled <> 0 then 'deleted' when deleting <> 0 then "
          "'deleting' when disabled <> 0 then 'disabled' else 'active' end from users "
          "where id > $1 order by id limit $2") },
    { "user", "show", "NAME", "Show an account", 1, 1, .run = operator_user_show,
      .columns = "&id\t$name\t$email\t?bot\t#premium\t$state\t@since\t#guilds\t#owns\t#apps\t"
          "#tokens\t#bytes" },
    { "user", "add", "NAME [bot]", "Create an account and print its token", 1, 2, .writes = true,
      .run = operator_user_add, .columns = "&id\t$token" },
    { "user", "passwd", "NAME", "Set a password; revokes all tokens, ends all sessions", 2, 2,
      .writes = true, .has_secret = true, .run = operator_user_set_password, .columns = COLUMNS_USER_STATE },
    { "user", "disable", "NAME", "Disable an account; revokes its tokens, ends its sessions", 1, 1,
      .writes = true, .run = operator_user_disable, .columns = COLUMNS_USER_STATE },
    { "user", "enable", "NAME", "Enable a disabled account", 1, 1, .writes = true,
      .run = operator_user_enable, .columns = COLUMNS_USER_STATE },
    { "user", "delete", "NAME", "Delete an account in 14 days; its messages remain", 1, 1,
      .writes = true, .run = operator_user_delete, .columns = COLUMNS_USER_STATE },
    { "user", "restore", "NAME", "Cancel the deletion of an account", 1, 1, .writes = true,
      .run = operator_user_restore, .columns = COLUMNS_USER_STATE },
    { "user", "export", "NAME", "Export all data of a user to a file", 1, 1,
      .writes = true, .run = operator_user_export,
      .columns = "&id\t$name\t$state\t#bytes\t$file" },
    { "user", "erase", "NAME", "Delete an account immediately; its messages remain", 1, 1,
      .writes = true, .is_final = true, .run = operator_user_erase, .columns = COLUMNS_USER_STATE },
    { "user", "mfa-off", "NAME", "Turn off two-factor login of an account", 1, 1,
      .writes = true, .run = operator_user_disable_mfa, .columns = COLUMNS_USER_STATE },
    { "user", "premium", "NAME 0-3", "Set the premium type of an account", 2, 2, .writes = true,
      .run = operator_user_set_premium, .columns = COLUMNS_USER_STATE },
    { "guild", "list", "", "List guilds by id", 0, 0, .is_list = true,
      .columns = "&id\t$name\t$owner\t#members",
      .query = SQL_TEXT("select g.id, g.name, u.username, g.member_count from guilds g join users "
          "u on u.id = g.owner_id where g.removed = 0 and g.id > $1 order by g.id limit $2") },
    { "guild", "show", "ID", "Show a guild", 1, 1, .unknown = TEXT_UNKNOWN_GUILD,
      .columns = "&id\t$name\t$owner\t#members\t#channels\t#roles",
      .query = SQL_TEXT("select g.id, g.name, u.username, g.member_count, "
          "(select count(*) from channels c where c.guild_id = g.id and c.thread_archived = 0), "
          "(select count(*) from roles r where r.guild_id = g.id) "
          "from guilds g join users u on u.id = g.owner_id where g.removed = 0 and g.id = $1") },
    { "guild", "owner", "ID NAME", "Make a member the owner of a guild", 2, 2, .writes = true,
      .run = operator_guild_set_owner, .columns = COLUMNS_GUILD_STATE, .unknown = TEXT_UNKNOWN_GUILD },
    { "guild", "delete", "ID", "Delete a guild with all its contents", 1, 1, .writes = true,
      .is_final = true, .run = operator_guild_delete, .columns = COLUMNS_GUILD_STATE,
      .unknown = TEXT_UNKNOWN_GUILD },
    { "guild", "refresh", "ID AFTER", NULL, 2, 2, .writes = true, .run = operator_guild_resend_to_members,
      .columns = "&last", .unknown = TEXT_UNKNOWN_GUILD },
    MIRROR_ROW("mirror-message", "GUILD CHANNEL ID CHANGE", 4, operator_apply_mirrored_message_change)
    MIRROR_ROW("mirror-deletion", "GUILD CHANNEL IDS", 3, operator_delete_mirrored_messages)
    MIRROR_ROW("mirror-reaction", "GUILD CHANNEL MESSAGE USER EMOJI CHANGE", 6,
               operator_apply_mirrored_reaction_change)
    MIRROR_ROW("mirror-channel", "GUILD ID CHANGE", 3, operator_apply_mirrored_channel_change)
    MIRROR_ROW("mirror-role", "GUILD ID CHANGE", 3, operator_apply_mirrored_role_change)
    MIRROR_ROW("mirror-member", "GUILD USER CHANGE", 3, operator_apply_mirrored_member_change)
    MIRROR_ROW("mirror-guild", "ID", 1, operator_apply_mirrored_guild_change)
    { "app", "list", "", "List applications by id", 0, 0, .is_list = true,
      .columns = "&id\t$name\t$owner\t$bot",
      .query = SQL_TEXT("select a.id, a.name, u.username, coalesce(b.username, '') from "
          "applications a join users u on u.id = a.owner_id left join users b on b.id = a.bot_id "
          "where a.removed = 0 and a.id > $1 order by a.id limit $2") },
    { "app", "show", "ID", "Show an application", 1, 1, .unknown = TEXT_UNKNOWN_APP,
      .columns = "&id\t$name\t$owner\t$bot\t$endpoint\t#guilds\t#commands",
      .query = SQL_TEXT("select a.id, a.name, u.username, coalesce(b.username, ''), "
          "coalesce(a.interactions_endpoint_url, ''), "
          "(select count(*) from members m where m.user_id = a.bot_id), "
          "(select count(*) from commands c where c.application_id = a.id) "
          "from applications a join users u on u.id = a.owner_id left join users b on "
          "b.id = a.bot_id where a.removed = 0 and a.id = $1") },
    { "app", "token", "ID", "Replace the token of its bot and print the new one", 1, 1, .writes = true,
      .is_final = true, .run = operator_app_renew_token, .columns = "&id\t$token",
      .unknown = TEXT_UNKNOWN_APP },
    { "token", "revoke", "NAME", "Revoke all tokens of an account and end its sessions", 1, 1,
      .writes = true, .run = operator_token_revoke, .columns = COLUMNS_USER_STATE },
    { "invite", "create", "[USES [DAYS]]", "Create a registration code; default: 1 use, 7 days", 0, 2,
      .writes = true, .run = operator_invite_create, .columns = "$code\t#uses\t@until\t&id" },
    { "invite", "list", "", "List valid registration codes by id, without the codes", 0, 0,
      .is_list = true, .run = operator_invite_list, .columns = COLUMNS_INVITE },
    { "invite", "revoke", "ID|CODE", "Revoke a registration code", 1, 1, .writes = true,
      .run = operator_invite_revoke, .columns = COLUMNS_INVITE },
    { "message", "show", "LINK|CHANNEL MESSAGE", "Show a message; the operator log records this", 1, 2,
      .writes = true, .run = operator_message_show,
      .columns = "&id\t&channel\t&guild\t&author_id\t$author\t@written\t@edited\t$files\t"
          "$content\t$embeds" },
    { "message", "delete", "LINK|CHANNEL MESSAGE", "Delete a message and its files", 1, 2,
      .writes = true, .is_final = true, .run = operator_message_delete,
      .columns = "&id\t&channel\t$state" },
    { "message", "purge", "NAME", "Delete all messages of an account, in the background", 1, 1,
      .writes = true, .is_final = true, .run = operator_message_purge, .columns = COLUMNS_PURGE },
    { "message", "purging", "NAME", "Show the progress of 'message purge'", 1, 1, .run = operator_message_purge_show_progress,
      .columns = COLUMNS_PURGE },
    { "file", "show", "LINK|ID", "Show an attachment and its path in the data folder", 1, 1,
      .writes = true, .run = operator_file_show,
      .columns = "&id\t$name\t$type\t#bytes\t&channel\t&message\t&author_id\t$blob\t#messages" },
    { "file", "delete", "LINK|ID", "Delete a file from all messages that have it", 1, 1,
      .writes = true, .is_final = true, .run = operator_file_delete,
      .columns = "&id\t$state\t#messages" },
    { "report", "list", "", "List open reports of messages by id", 0, 0,
      .is_list = true, .run = operator_report_list, .columns = COLUMNS_REPORT },
    { "report", "show", "ID", "Show a report, with the message at that time", 1, 1,
      .run = operator_report_show,
      .columns = COLUMNS_REPORT "\t&guild\t$comment\t@closed\t$resolution\t$snapshot" },
    { "report", "close", "ID [WHY]", "Close a report; it is deleted 90 days later", 1, 2,
      .writes = true, .run = operator_report_close, .columns = "&id\t$state" },
    { "ban", "list", "", "List banned address ranges by id", 0, 0, .is_list = true,
      .run = operator_ban_list, .columns = COLUMNS_BAN },
    { "ban", "add", "RANGE [WHY]", "Ban an address range (192.0.2.0/24) and end its sessions", 1, 2,
      .writes = true, .run = operator_ban_add, .columns = COLUMNS_BAN },
    { "ban", "lift", "ID", "Remove a ban of an address range", 1, 1, .writes = true,
      .run = operator_ban_lift, .columns = COLUMNS_BAN },
    { "announcement", "show", "", "Show the announcement to everybody", 0, 0,
      .run = operator_announcement_show, .columns = COLUMNS_ANNOUNCEMENT },
    { "announcement", "set", "TEXT [DAYS]", "Show a text to everybody on the web pages; default: 7 days",
      1, 2, .writes = true, .run = operator_announcement_set, .columns = COLUMNS_ANNOUNCEMENT },
    { "announcement", "clear", "", "Remove the announcement", 0, 0, .writes = true,
      .run = operator_announcement_clear, .columns = "$state" },
    { "stats", NULL, "", "Show the number of users, guilds, sessions and so on", 0, 0, .run = operator_stats_show,
      .columns = "$version\t$store\t#people\t#bots\t#disabled\t#guilds\t#apps\t#tokens\t"
          "#file_bytes\t#sessions\t#connected" },
    { "sessions", NULL, "", "List gateway sessions", 0, 0, .run_blocking = operator_sessions_list },
    { "sessions", "voice", "", "List voice connections", 0, 0, .run_blocking = operator_voice_sessions_list },
    { "sessions", "drop", "NAME|ID [CODE]", "Close the socket of a session", 1, 2,
      .run = operator_session_apply_test_action },
    { "sessions", "reconnect", "NAME|ID", "Ask the client to reconnect (opcode 7)", 1, 2, .run = operator_session_apply_test_action },
    { "sessions", "invalidate", "NAME|ID", "Invalidate a session (opcode 9)", 1, 2, .run = operator_session_apply_test_action },
    { "sessions", "resumable", "NAME|ID", "Send opcode 9 with true: the client may resume", 1, 2,
      .run = operator_session_apply_test_action },
    { "sessions", "push", "WHO JSON", NULL, 2, 2, .body = &operator_session_action_type,
      .run = operator_session_apply_test_action },
    { "health", NULL, "", "Show statistics of the last hour", 0, 0, .run = operator_health_show },
    { "clock", NULL, "", "Show the time that the server uses", 0, 0, .run = operator_clock_show,
      .columns = COLUMNS_CLOCK },
    { "clock", "move", "JSON", NULL, 1, 1, .for_tests = true, .body = &operator_clock_type,
      .run = operator_test_clock_move, .columns = COLUMNS_CLOCK },
    { "fault", NULL, "", "List injected faults", 0, 0, .is_array = true,
      .run = operator_fault_list, .columns = COLUMNS_FAULT },
    { "fault", "add", "JSON", NULL, 1, 1, .for_tests = true, .body = &operator_fault_type,
      .run = operator_fault_add, .columns = COLUMNS_FAULT },
    { "fault", "clear", "[ID]", "Remove all injected faults, or one", 0, 1, .for_tests = true,
      .run = operator_fault_clear },
    { "snapshot", NULL, "", "List snapshots by name", 0, 0, .run_blocking = operator_snapshot_list,
      .columns = "$name\t#bytes\t@made_at" },
    { "snapshot", "make", "NAME", NULL, 0, 1, .run_blocking = operator_snapshot_create, .columns = "$answer" },
    { "snapshot", "restore", "NAME", NULL, 0, 1, .run_blocking = operator_snapshot_restore,
      .columns = "$answer" },
    { "snapshot", "restored", "", NULL, 0, 0, .run_blocking = operator_snapshot_count_restores,
      .columns = "#tried\t#restored" },
    { "snapshot", "delete", "NAME", NULL, 1, 1, .run_blocking = operator_snapshot_delete,
      .columns = "$answer" },
    { "log", NULL, "", "List the operator's changes by id", 0, 0, .is_list = true,
      .columns = "&id\t@at\t#uid\t$command",
      .query = SQL_TEXT("select id, at, uid, command from operator_log where id > $1 order by id "
          "limit $2") },
    { 0 },
};
/* clang-format on */

const struct operator_command_row *operator_command_row_find(struct str noun, struct str verb)
{
    for (const struct operator_command_row *r = operator_command_rows; r->noun; r++)
        if (str_is(noun, r->noun) && (r->verb ? str_is(verb, r->verb) : verb.n == 0))
            return r;
    return NULL;
}

static bool parse_list_start_and_limit(struct running_operator_command *o, struct str *rest)
{
    struct str after = str_cut(rest, '\t'), limit = str_cut(rest, '\t');

    return str_to_u64(after, &o->after) && str_to_i64(limit, &o->limit) && o->limit >= 1 &&
           o->limit <= OPERATOR_PAGE_MAX;
}

/* Decodes the last argument, which is JSON. Returns an error sentence, or NULL on success. */
static const char *decode_json_argument(struct running_operator_command *o)
{
    struct form form = { .arena = o->arena };
    struct buf problem;
    void *body;

    if (!schema_decode(o->row->body, o->words[--o->count], &form, &body)) {
        o->body = body;
        return NULL;
    }
    buf_init(&problem, 4096);
    form_append_text_of_first_error(&form, &problem);
    return str_dup_cstring(o->arena, buf_move_to_arena(&problem, o->arena));
}

/* Parses a request. Returns an error sentence, or NULL on success. */
static const char *parse_operator_command(struct running_operator_command *o, struct str question)
{
    struct str rest = question, noun = str_cut(&rest, '\t'), verb = str_cut(&rest, '\t');

    if (!utf8_is_valid(question))
        return "the command is not valid UTF-8";
    o->row = operator_command_row_find(noun, verb);
    if (!o->row)
        return "there is no such command; see 'guildhall help'";
    if (o->row->is_list && !parse_list_start_and_limit(o, &rest))
        return "--after must be an id";
    while (rest.n && o->count < OPERATOR_ARGUMENTS_MAX)
        o->words[o->count++] = str_cut(&rest, '\t');
    if (rest.n || o->count < o->row->least || o->count > o->row->most)
        return "the command has too few or too many arguments";
    return o->row->body ? decode_json_argument(o) : NULL;
}

static enum err move_output_to_arena(struct running_operator_command *o, enum err e)
{
    if (!e && buf_is_full(&o->out))
        e = ERR_ANSWER_TOO_LARGE;
    if (!e)
        o->output = buf_move_to_arena(&o->out, o->arena);
    buf_clear(&o->out);
    return e;
}

enum err operator_command_run_blocking(struct running_operator_command *o)
{
    return move_output_to_arena(o, o->row->run_blocking(o));
}

enum err operator_command_run_in_transaction(struct call *call, struct running_operator_command *o)
{
    const struct operator_command_row *row = o->row;

    if (row->run_blocking)
        return OK;
    o->problem = NULL;
    return move_output_to_arena(o,
                                row->run ? row->run(call, o) : operator_command_run_query(call, o));
}

void operator_command_write_reply(const struct running_operator_command *o, struct buf *out)
{
    if (o->row->columns && !o->as_json)
        buf_printf(out, "%s\n", o->row->columns);
    buf_printf(out, o->as_json && o->row->is_array ? "[%.*s]" : "%.*s", STR_ARGS(o->output));
}

/* A command that runs on an event loop while the control socket's OS thread waits for it. */
struct operator_call {
    struct running_operator_command command;
    struct loop *loop;
    struct loop_message post;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool is_ended;
    enum err result;
};

static enum err run_operator_call(struct call *call)
{
    struct running_operator_command *o =
        &((struct operator_call *)call_get_stage_data(call, "operator_call"))->command;
    enum err e = operator_command_run_in_transaction(call, o);

    return !e && o->row->writes && !o->row->is_frequent ? operator_log_record_command(call, o) : e;
}

static void on_operator_call_done(struct call *call, enum err e, void *arg)
{
    struct operator_call *w = arg;
    struct running_operator_command *o = &w->command;

    if (form_has_errors(&call->form) && !o->problem) {
        form_append_text_of_first_error(&call->form, &o->out);
        o->problem = str_dup_cstring(o->arena, buf_move_to_arena(&o->out, o->arena));
    }
    pthread_mutex_lock(&w->lock);
    w->result = e;
    w->is_ended = true;
    pthread_cond_signal(&w->ended);
    pthread_mutex_unlock(&w->lock);
}

static void begin_operator_call(struct loop_message *p)
{
    struct operator_call *w = container_of(p, struct operator_call, post);

    internal_call_start(w->command.api, w->loop,
                        &(struct internal_call){
                            .name = "operator",
                            .store = w->command.row->writes ? ROUTE_STORE_WRITE : ROUTE_STORE_READ,
                            .run = run_operator_call,
                            .done = on_operator_call_done,
                            .type = "operator_call",
                            .data = w,
                            .arg = w,
                        });
}

static enum err run_on_loop_and_wait(struct operator_call *w)
{
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->ended, NULL);
    w->post.run = begin_operator_call;
    loop_post_message(w->loop, &w->post);
    pthread_mutex_lock(&w->lock);
    while (!w->is_ended)
        pthread_cond_wait(&w->ended, &w->lock);
    pthread_mutex_unlock(&w->lock);
    pthread_cond_destroy(&w->ended);
    pthread_mutex_destroy(&w->lock);
    return w->result;
}

/* Checks the password's length as the API does, and hashes it. The password is not stored. */
static enum err hash_password_argument(struct running_operator_command *o)
{
    struct str password = o->words[--o->count];

    if (password.n < 8 || password.n > 72)
        return operator_command_set_error_sentence(o, ERR_BAD_REQUEST,
                                                   "a password must have 8-72 bytes");
    return password_hash(o->api, o->arena, password, &o->password_hash);
}

static enum err execute_operator_command(struct operator_call *w)
{
    struct running_operator_command *o = &w->command;
    enum err e = OK;

    if (o->row->for_tests && !workbench_controls_are_enabled(api_get_options(o->api)->workbench))
        return operator_command_set_error_sentence(
            o, ERR_FORBIDDEN,
            "this server has no workbench; start it with --workbench on, or use "
            "'guildhall demo'");
    if (o->row->has_secret)
        e = hash_password_argument(o);
    if (!e && o->row->run_blocking)
        return operator_command_run_blocking(o);
    return e ? e : run_on_loop_and_wait(w);
}

void operator_command_run(const struct operator_command_environment *server, unsigned uid,
                          struct str question, bool as_json, struct buf *out)
{
    struct operator_call w = { .loop = server->loop };
    struct running_operator_command *o = &w.command;
    enum err e = ERR_BAD_REQUEST;

    *o = (struct running_operator_command){ .api = server->api,
                                            .relay = server->relay,
                                            .arena = arena_new(),
                                            .uid = uid,
                                            .as_json = as_json };
    buf_init(&o->out, COMMAND_OUTPUT_MAX_BYTES);
    o->problem = parse_operator_command(o, question);
    if (!o->problem)
        e = execute_operator_command(&w);
    if (e)
        buf_printf(out, "error %d %s\n", error_info(e)->status,
                   o->problem ? o->problem : error_info(e)->message);
    else {
        buf_add_lit(out, "ok\n");
        operator_command_write_reply(o, out);
    }
    if (!e && o->row->writes && !o->row->is_frequent)
        log_info("operator: the command '%s %s' was run by the system user %u", o->row->noun,
                 o->row->verb, uid);
    arena_free(o->arena);
}
