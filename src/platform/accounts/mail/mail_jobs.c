/* mail_jobs.c - background jobs that send mailed links, with a limited number of retries.
 *
 * A job reads its link, passes the mail to the mailer's thread, and records the result. If the
 * process dies in between, the job runs again when its lease expires, so a mail can arrive twice;
 * both copies contain the same link. */
#include "api/jobs/internal_call.h"
#include "api/jobs/jobs.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "net/client/mailer.h"
#include "platform/accounts/internal.h"
#include "platform/accounts/mail/mailed_links.h"

/* Lease of a mail job in milliseconds. It must be longer than the mailer takes for a full queue in
 * which every mail times out. */
enum { MAIL_LEASE_MS = 120 * 1000, LONGEST_MAIL = 4096 };

#define SECOND_US INT64_C(1000000)

/* Seconds between a failed attempt and the next one, indexed by the number of failures minus
 * one. */
static const int64_t retry_delays_s[] = { 10, 60, 300, 900, 1800 };

enum mail_state { MAIL_NOT_NEEDED, MAIL_QUEUE_FULL, MAIL_TRIED };

struct mail_delivery {
    struct job job;
    enum mailed_link_purpose purpose;
    int64_t tries;
    enum mail_state state;
    struct outgoing_mail mail;
    struct call *call;
};

/* The token is in the URL fragment (#), which browsers do not send, so no access log contains
 * it. */
static void write_mail_with_link(struct buf *out, const struct call *call,
                                 const struct mailed_link *l)
{
    const struct api_options *o = api_get_options(call->api);
    bool reset = l->purpose == LINK_RESET;
    struct str token = mailed_link_derive_token(call, l), here = api_get_base_url(call, "http");
    char date[30], until[30];

    if (here.p[here.n - 1] == '/')
        here.n--;
    format_http_date(clock_s(), date);
    buf_printf(out, "From: %.*s\r\nTo: %.*s\r\n", STR_ARGS(mailer_get_from_header(o->mailer)),
               STR_ARGS(l->address));
    buf_printf(out, "Subject: %s\r\n", reset ? "A new password" : "Is this your address?");
    buf_printf(out, "Date: %.26s+0000\r\nMessage-ID: <%llu.%llu@%.*s>\r\n", date,
               (unsigned long long)l->user_id, (unsigned long long)snowflake_new(),
               STR_ARGS(mailer_get_sender_domain(o->mailer)));
    buf_printf(out, "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
                    "Content-Type: text/plain; charset=us-ascii\r\n\r\n");
    buf_printf(out, "%s\r\n\r\n",
               reset ? "Somebody, perhaps you, wants a new password for your account at"
                     : "Somebody, perhaps you, says that this is the address of an account at");
    format_http_date(l->expires_at / SECOND_US, until);
    buf_printf(out, "%.*s\r\n\r\n%s, once, until %s:\r\n\r\n", STR_ARGS(here),
               reset ? "This page takes it" : "This page confirms it", until);
    buf_printf(out, "%.*s/%s#token=%.*s\r\n\r\n", STR_ARGS(here), reset ? "reset" : "verify",
               STR_ARGS(token));
    buf_printf(out, "If it was not you, there is nothing to do.\r\n");
}

/* --- stages of the mail job ---------------------------------------------------------- */

static void pass_mail_to_mailer(struct call *call);

static enum err read_link_and_write_mail(struct call *call)
{
    struct mail_delivery *m = call_get_stage_data(call, "mail_delivery");
    struct mailed_link l;
    struct buf text;

    m->state = MAIL_NOT_NEEDED;
    call->await = NULL;
    enum err e = mailed_link_read(call, m->job.key, m->purpose, &l);
    if (e || !l.is_valid || !mail_is_configured(call) || !mail_address_is_sendable(l.address))
        return e;
    buf_init(&text, LONGEST_MAIL);
    write_mail_with_link(&text, call, &l);
    m->mail.to = str_dup_cstring(call->arena, l.address);
    m->mail.text = buf_move_to_arena(&text, call->arena);
    call->await = pass_mail_to_mailer;
    return OK;
}

static void on_mail_sent(struct loop_message *p)
{
    struct mail_delivery *m = container_of(p, struct mail_delivery, mail.posted);

    m->state = MAIL_TRIED;
    call_resume_after_await(m->call, OK);
}

static void pass_mail_to_mailer(struct call *call)
{
    struct mail_delivery *m = call_get_stage_data(call, "mail_delivery");

    m->call = call;
    m->mail.loop = call->loop;
    m->mail.posted.run = on_mail_sent;
    if (mailer_send(api_get_options(call->api)->mailer, &m->mail))
        return;
    m->state = MAIL_QUEUE_FULL;
    call_resume_after_await(call, OK);
}

static enum err reschedule_mail_job(struct call *call, const struct mail_delivery *m, int64_t tries,
                                    int64_t seconds)
{
    bool held;

    return job_renew_lease(call, &m->job, clock_us() + seconds * SECOND_US,
                           str_printf(call->arena, "%lld", (long long)tries), &held);
}

static enum err finish_or_reschedule_mail_job(struct call *call)
{
    const struct mail_delivery *m = call_get_stage_data(call, "mail_delivery");

    if (m->state == MAIL_QUEUE_FULL)
        return reschedule_mail_job(call, m, m->tries, 2);
    if (m->state == MAIL_TRIED && m->mail.result == MAIL_STOPPED)
        return reschedule_mail_job(call, m, m->tries, 0);
    if (m->state == MAIL_TRIED && m->mail.result == MAIL_FAILED) {
        if (m->tries < (int64_t)COUNT_OF(retry_delays_s))
            return reschedule_mail_job(call, m, m->tries + 1, retry_delays_s[m->tries]);
        log_warn("mail: could not send the mailed link of account %llu; no more retries",
                 (unsigned long long)m->job.key);
    }
    return job_finish(call, &m->job);
}

static enum err schedule_mailed_link_read(struct call *call)
{
    call->read = read_link_and_write_mail;
    return OK;
}

static void start_mail_job(struct api *api, struct loop *loop, const struct job *job,
                           enum mailed_link_purpose purpose)
{
    struct mail_delivery m = { .job = *job, .purpose = purpose };

    str_to_i64(job->data, &m.tries);
    m.job.data = (struct str){ 0 };
    internal_call_start(api, loop,
                        &(struct internal_call){ .name = job->kind->name,
                                                 .store = ROUTE_STORE_WRITE,
                                                 .decode = schedule_mailed_link_read,
                                                 .run = finish_or_reschedule_mail_job,
                                                 .type = "mail_delivery",
                                                 .data = &m,
                                                 .size = sizeof m });
}

static void start_verification_mail_job(struct api *api, struct loop *loop, const struct job *job)
{
    start_mail_job(api, loop, job, LINK_VERIFY);
}

static void start_password_reset_mail_job(struct api *api, struct loop *loop, const struct job *job)
{
    start_mail_job(api, loop, job, LINK_RESET);
}

const struct job_kind mail_verify_job = {
    .name = "mail-verify",
    .doc = "Mails a link that verifies an email address.",
    .start = start_verification_mail_job,
    .lease_ms = MAIL_LEASE_MS,
};

const struct job_kind mail_reset_job = {
    .name = "mail-reset",
    .doc = "Mails a link for setting a new password.",
    .start = start_password_reset_mail_job,
    .lease_ms = MAIL_LEASE_MS,
};
