/* follow.c - the main loop of `copy-guild --follow`, its stored state, and new copies after missed
 * events. */
#include "tools/copy/follow/follow.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "admin/control/control.h"
#include "base/clock.h"

enum {
    READ_LISTS_AFTER_S = 2, /* changes of lists come in bursts */
    MAX_ATTEMPTS = 5,
    SAVE_EVERY = 50,
    MARGIN_MS = 5 * 60 * 1000, /* clocks differ, and events are late */
};
#define SECOND_NS INT64_C(1000000000)
static const char STATE_FILE[] = "follow.jsonl";

/* Gateway intents on the source server and on this server. Members and message content are
 * privileged intents. */
enum {
    INTENT_GUILDS = 1 << 0,
    INTENT_MEMBERS = 1 << 1,
    INTENT_MODERATION = 1 << 2,
    INTENT_EXPRESSIONS = 1 << 3,
    INTENT_WEBHOOKS = 1 << 5,
    INTENT_INVITES = 1 << 6,
    INTENT_MESSAGES = 1 << 9,
    INTENT_REACTIONS = 1 << 10,
    INTENT_CONTENT = 1 << 15,
    INTENT_SCHEDULED_EVENTS = 1 << 16,
    INTENT_AUTOMOD = 1 << 20,
};

/* --- interruption -------------------------------------------------------------------- */

static volatile sig_atomic_t interrupted;

static void on_follow_interrupt_signal(int number)
{
    (void)number;
    interrupted = 1;
}

bool follow_is_interrupted(void)
{
    return interrupted;
}

/* Handles SIGINT and SIGTERM. A second signal ends the process at once, because the state is always
 * on disk. */
static void catch_follow_interrupt_signals(void)
{
    struct sigaction action = { .sa_handler = on_follow_interrupt_signal,
                                .sa_flags = (int)SA_RESETHAND };

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* --- the running server -------------------------------------------------------------- */

static void pause_for_a_second(void)
{
    nanosleep(&(struct timespec){ .tv_sec = 1 }, NULL);
}

bool follow_wait_until_server_runs(struct guild_follower *f)
{
    bool said = false;

    while (!interrupted && !running_server_is_reachable(f->options->data)) {
        if (!said)
            fprintf(stderr, "guildhall: no server runs on '%s'; waiting until one does\n",
                    f->options->data);
        said = true;
        pause_for_a_second();
    }
    return !interrupted;
}

static void report_refused_command(struct guild_follower *f, const char *words, struct str reply)
{
    char what[300], why[300];

    snprintf(what, sizeof what, "%s", words);
    for (char *p = what; *p; p++)
        *p = *p == '\t' ? ' ' : *p;
    snprintf(why, sizeof why, "the server here refused it: %.*s",
             (int)(reply.n > 200 ? 200 : reply.n), reply.p ? reply.p : "");
    guild_archive_add_report_line(f->archive, what, why);
}

bool follow_run_server_command(struct guild_follower *f, const char *format, ...)
{
    char request[4000];
    int n = snprintf(request, sizeof request, "operate guild\t");
    struct buf out;
    va_list args;

    va_start(args, format);
    int written = vsnprintf(request + n, sizeof request - (size_t)n, format, args);
    va_end(args);
    if (written < 0 || (size_t)written >= sizeof request - (size_t)n)
        return true; /* the emoji of the event has a name that no server accepts */
    buf_init(&out, SIZE_MAX);
    bool ok =
        control_socket_send_request_with_timeout(f->options->data, request, 0, &out) == OK && out.n;
    struct str reply = buf_as_str(&out), word = str_cut(&reply, ' ');
    if (ok && str_is(word, "error")) {
        ok = !str_starts_with(reply, STR("5")); /* busy: try again */
        if (ok)
            report_refused_command(f, request + n, str_trim(reply));
    }
    buf_clear(&out);
    return ok;
}

bool follow_run_read_transaction(const struct guild_follower *f,
                                 enum err (*run)(struct tx *tx, void *arg), void *arg)
{
    struct arena *arena = arena_new_small();
    bool ok = store_run_transaction_and_wait(f->load.store, STORE_READ, arena, run, arg) == OK;

    arena_free(arena);
    return ok;
}

/* --- state --------------------------------------------------------------------------- */

static bool read_line_of_follow_state(void *arg, struct str line, int64_t next_offset,
                                      struct arena *arena)
{
    struct guild_follower *f = arg;
    int64_t side = json_member_int(line, "side");

    (void)next_offset;
    if (json_member_get_raw_text(line, "newest_event").n) {
        f->newest_event = json_member_int(line, "newest_event");
        f->newest_here = json_member_get_id(line, "newest_here");
    } else if (side >= 0 && side < SIDES) {
        struct gateway_resume_point *p = &f->points[side];

        snprintf(p->id, sizeof p->id, "%.*s",
                 STR_ARGS(json_member_get_text(arena, line, "session")));
        snprintf(p->url, sizeof p->url, "%.*s", STR_ARGS(json_member_get_text(arena, line, "url")));
        p->seq = json_member_int(line, "seq");
    }
    return true;
}

static void write_resume_point_of_follow_session(struct buf *out,
                                                 const struct gateway_resume_point *p, int side)
{
    struct json_writer j = json_writer_to_buf(out);

    json_begin_object(&j);
    json_write_name(&j, "side");
    json_write_int(&j, side);
    json_write_name(&j, "session");
    json_write_text(&j, str_of(p->id));
    json_write_name(&j, "url");
    json_write_text(&j, str_of(p->url));
    json_write_name(&j, "seq");
    json_write_int(&j, p->seq);
    json_end_object(&j);
    buf_add_char(out, '\n');
}

/* Writes the state to disk. This happens after the events were applied, so that after a crash the
 * process receives them again. */
static bool save_follow_state(const struct guild_follower *f)
{
    struct buf out;

    buf_init(&out, SIZE_MAX);
    for (int side = 0; side < SIDES; side++)
        if (f->points[side].id[0])
            write_resume_point_of_follow_session(&out, &f->points[side], side);
    buf_printf(&out, "{\"newest_event\":%" PRId64 ",\"newest_here\":\"%" PRIu64 "\"}\n",
               f->newest_event, f->newest_here);
    bool ok = guild_archive_write_lines(f->archive, STATE_FILE, buf_as_str(&out));
    buf_clear(&out);
    return ok;
}

/* --- copies -------------------------------------------------------------------------- */

/* Returns the first id after the time of the last event; 0 before the first run. */
static snowflake first_id_of_missed_events(const struct guild_follower *f)
{
    int64_t ms = f->newest_event / 1000 - MARGIN_MS;

    return ms > SNOWFLAKE_EPOCH_MS ? snowflake_from_ms(ms) : 0;
}

/* Chooses the messages that the next copy reads again: those since the last event, because they may
 * have been edited or deleted. */
static void choose_messages_to_read_again(struct guild_follower *f)
{
    snowflake since = f->options->download->read_again_since, missed = first_id_of_missed_events(f);

    f->download_options.read_again_since = missed && missed < since ? missed : since;
}

static bool request_json_of_source_server(struct source_server_connection *c, const char *path,
                                          struct buf *out)
{
    bool ok =
        source_server_connection_send_request(c, "GET", path, (struct str){ 0 }, out) == COPY_OK;

    if (!ok)
        fprintf(stderr, "guildhall: cannot read %s: %s\n", path, c->reason);
    return ok;
}

/* Called when a copy has stopped. The copy is tried again, unless the bot's token is no longer
 * valid. */
static void check_token_of_source_server(struct guild_follower *f)
{
    struct buf out;

    buf_init(&out, SIZE_MAX);
    f->source_failed = true;
    if (source_server_connection_send_request(&f->connection, "GET", "/users/@me",
                                              (struct str){ 0 }, &out) == COPY_STOPPED)
        f->result = COPY_STOPPED;
    buf_clear(&out);
}

/* Copies the guild again, as the command without --follow does. If `messages` is set, also deletes
 * messages on this server that were deleted on the source server meanwhile. */
static bool run_guild_copy_again(struct guild_follower *f, bool messages)
{
    struct guild_archive_ids *before = NULL;

    if (!follow_wait_until_server_runs(f))
        return false;
    choose_messages_to_read_again(f);
    if (messages)
        before = guild_archive_ids_read(f->archive, f->download_options.read_again_since);
    enum guild_copy_result downloaded =
        download_guild_to_archive(f->options->source, f->archive, &f->download_options);
    f->load.no_messages = !messages;
    live_import_free(f->import);
    f->import = NULL;
    bool ok = downloaded != COPY_STOPPED && import_guild_archive(&f->load) != COPY_STOPPED;
    if (downloaded == COPY_STOPPED)
        check_token_of_source_server(f);
    if (ok)
        f->import = live_import_new(&f->load);
    ok = ok && f->import &&
         (!before || downloaded != COPY_OK || follow_delete_objects_missing_in_archive(f, before));
    if (ok && messages && first_id_of_missed_events(f))
        ok = follow_add_missed_reactions(f, first_id_of_missed_events(f));
    guild_archive_ids_free(before);
    if (ok && messages && f->options->after_copy)
        f->options->after_copy(f->options->after_copy_arg);
    fflush(stdout);
    return ok;
}

/* --- events -------------------------------------------------------------------------- */

static bool apply_followed_guild_event(struct guild_follower *f,
                                       const struct followed_guild_event *e)
{
    if (e->side == SIDE_HERE)
        return source_guild_poster_apply_event(f->back, e);
    if (!str_is(str_of(e->name), "READY"))
        return follow_apply_source_event(f, e);
    if (!run_guild_copy_again(f, true))
        return false;
    printf("following the guild\n");
    fflush(stdout);
    return true;
}

/* Applies an event. If a server cannot be reached, tries again later. Returns false if the command
 * ends. */
static bool retry_followed_guild_event_until_done(struct guild_follower *f,
                                                  const struct followed_guild_event *e)
{
    bool copies = e->side == SIDE_SOURCE && str_is(str_of(e->name), "READY");
    char what[200];

    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        f->source_failed = false;
        if (!follow_wait_until_server_runs(f))
            return false;
        if (!f->import && !copies)
            f->import = live_import_new(&f->load);
        if ((f->import || copies) && apply_followed_guild_event(f, e))
            return true;
        if (interrupted || f->result == COPY_STOPPED)
            return false;
        if (f->source_failed || !running_server_is_reachable(f->options->data))
            attempt = 0;
        pause_for_a_second();
    }
    snprintf(what, sizeof what, "event %s", e->name);
    guild_archive_add_report_line(f->archive, what, "it could not be applied here");
    return true;
}

static void record_followed_guild_event(struct guild_follower *f,
                                        const struct followed_guild_event *e)
{
    f->points[e->side] = e->after;
    if (e->side == SIDE_SOURCE)
        f->newest_event = clock_us();
}

static bool download_guild_lists_if_due(struct guild_follower *f)
{
    if (!f->lists_changed || clock_monotonic_ns() < f->read_lists_at)
        return true;
    f->lists_changed = false;
    if (run_guild_copy_again(f, false))
        return true;
    f->lists_changed = true;
    f->read_lists_at = clock_monotonic_ns() + READ_LISTS_AFTER_S * SECOND_NS;
    return f->result != COPY_STOPPED;
}

static bool start_follow_session_on_this_server(struct guild_follower *f);

static void run_follow_loop(struct guild_follower *f)
{
    int unsaved = 0;
    bool more = true;

    while (more && !interrupted) {
        struct followed_guild_event *e = follow_sessions_wait_for_event(f->sessions);

        if (e && e->refused) {
            fprintf(stderr, "guildhall: %s of %s\n", e->data,
                    e->side == SIDE_HERE ? "this server" : "the other server");
            f->result = COPY_STOPPED;
            more = false;
        } else if (e) {
            more = retry_followed_guild_event_until_done(f, e);
            if (more)
                record_followed_guild_event(f, e);
            unsaved++;
        }
        followed_guild_event_free(e);
        if (more && f->back && f->import && !f->here_runs &&
            !start_follow_session_on_this_server(f)) {
            f->result = COPY_STOPPED;
            more = false;
        }
        if (more && follow_sessions_have_no_queued_event(f->sessions))
            more = download_guild_lists_if_due(f);
        if (unsaved &&
            (unsaved >= SAVE_EVERY || follow_sessions_have_no_queued_event(f->sessions))) {
            save_follow_state(f);
            unsaved = 0;
        }
    }
    save_follow_state(f);
}

/* --- beginning ----------------------------------------------------------------------- */

/* Starts a gateway session with one of the servers. Requests the address of its gateway first. */
static bool start_follow_session(struct guild_follower *f, enum followed_guild_server side,
                                 struct source_server_connection *c, const char *token,
                                 int64_t intents)
{
    struct arena *arena = arena_new_small();
    struct buf out;

    buf_init(&out, SIZE_MAX);
    bool ok = request_json_of_source_server(c, "/gateway/bot", &out);
    if (ok) {
        struct bot_session_options options = {
            .url = str_dup_cstring(arena, json_member_get_text(arena, buf_as_str(&out), "url")),
            .token = token,
            .intents = intents,
            .public_only = !c->is_private,
        };

        ok = follow_sessions_start(f->sessions, side, &options, &f->points[side]);
    }
    buf_clear(&out);
    arena_free(arena);
    return ok;
}

/* Starts the gateway session with this server, after the guild was imported. The bot must be a
 * member of the guild. */
static bool start_follow_session_on_this_server(struct guild_follower *f)
{
    const struct guild_follower_options *o = f->options;
    struct source_server_connection here;
    struct buf out;
    char path[100];

    if (!source_server_connection_open(&here, o->here))
        return false;
    buf_init(&out, SIZE_MAX);
    snprintf(path, sizeof path, "/guilds/%" PRIu64, o->download->guild);
    bool ok = source_server_connection_send_request(&here, "GET", path, (struct str){ 0 }, &out) ==
              COPY_OK;
    if (!ok)
        fprintf(stderr,
                "guildhall: the bot of --post-back-token-file cannot read the guild here (%s); add "
                "it to the guild with Administrator\n",
                here.reason);
    ok = ok &&
         start_follow_session(f, SIDE_HERE, &here, o->here_token,
                              INTENT_GUILDS | INTENT_MESSAGES | INTENT_REACTIONS | INTENT_CONTENT);
    buf_clear(&out);
    source_server_connection_close(&here);
    f->here_runs = ok;
    return ok;
}

static bool find_account_of_follow_token(struct guild_follower *f)
{
    struct buf out;

    buf_init(&out, SIZE_MAX);
    bool ok = request_json_of_source_server(&f->connection, "/users/@me", &out);
    f->bot = ok ? json_member_get_id(buf_as_str(&out), "id") : 0;
    buf_clear(&out);
    return ok;
}

static bool follow_read_state_and_start_sessions(struct guild_follower *f)
{
    const struct guild_follower_options *o = f->options;
    int64_t intents = INTENT_GUILDS | INTENT_MODERATION | INTENT_EXPRESSIONS | INTENT_WEBHOOKS |
                      INTENT_INVITES | INTENT_MESSAGES | INTENT_REACTIONS | INTENT_CONTENT |
                      INTENT_SCHEDULED_EVENTS | INTENT_AUTOMOD;

    if (o->download->people)
        intents |= INTENT_MEMBERS;
    guild_archive_for_each_line(f->archive, STATE_FILE, 0, read_line_of_follow_state, f);
    guild_copy_skipped_ids_read(f->archive, &f->skipped);
    if (!source_server_connection_open(&f->connection, o->source) ||
        !find_account_of_follow_token(f) || !follow_wait_until_server_runs(f))
        return false;
    /* Messages from before the first run are not posted on the source server. */
    if (!f->newest_here)
        f->newest_here = snowflake_from_ms(clock_ms());
    if (o->here)
        f->back = source_guild_poster_new(f);
    if (o->here && !f->back)
        return false;
    return start_follow_session(f, SIDE_SOURCE, &f->connection, o->source_token, intents);
}

enum guild_copy_result follow_source_guild_until_interrupted(
    const struct guild_follower_options *options)
{
    struct guild_follower f = { .options = options,
                                .archive = options->archive,
                                .download_options = *options->download,
                                .load = *options->load };

    f.sessions = follow_sessions_new(options->download->guild);
    catch_follow_interrupt_signals();
    if (follow_read_state_and_start_sessions(&f))
        run_follow_loop(&f);
    else
        f.result = COPY_STOPPED;
    follow_sessions_free(f.sessions);
    source_guild_poster_free(f.back);
    live_import_free(f.import);
    guild_copy_skipped_ids_clear(&f.skipped);
    source_server_connection_close(&f.connection);
    return f.result;
}
