/* mails.c - background jobs that send mailed links, with a limited number of retries.
 *
 * A job reads its link, passes the mail to the mailer's thread, and records the result. If the
 * process dies in between, the job runs again when its lease expires, so a mail can arrive twice;
 * both copies contain the same link. */
#include "api/jobs/errand.h"
#include "api/jobs/jobs.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "net/client/mailer.h"
#include "platform/accounts/internal.h"
#include "platform/accounts/mail/links.h"

/* Lease of a mail job; it must outlast a full mailer queue in which every mail times out. */
enum { MAIL_LEASE_MS = 120 * 1000, LONGEST_MAIL = 4096 };

#define SECOND_US INT64_C(1000000)

/* Seconds until the next attempt after the first, second … failure. */
static const int64_t pauses[] = { 10, 60, 300, 900, 1800 };

enum mail_state { MAIL_NEEDLESS, MAIL_LINE_FULL, MAIL_TRIED };

struct mail_errand {
    struct job job;
    enum link_purpose purpose;
    int64_t tries;
    enum mail_state state;
    struct mail mail;
    struct call *call;
};

/* --- text of the mail ------------------------------------------------------------------- */

/* The token is in the URL fragment (#), which browsers do not send to proxies or logs. */
static void write_mail(struct buf *out, const struct call *call, const struct link_row *l)
{
    const struct api_options *o = api_options(call->api);
    bool reset = l->purpose == LINK_RESET;
    struct str token = link_token(call, l), here = api_url(call, "http");
    char date[30], until[30];

    if (here.p[here.n - 1] == '/')
        here.n--;
    timestamp_http(clock_s(), date);
    buf_printf(out, "From: %.*s\r\nTo: %.*s\r\n", STR_FMT(mailer_from(o->mailer)),
               STR_FMT(l->address));
    buf_printf(out, "Subject: %s\r\n", reset ? "A new password" : "Is this your address?");
    buf_printf(out, "Date: %.26s+0000\r\nMessage-ID: <%llu.%llu@%.*s>\r\n", date,
               (unsigned long long)l->user_id, (unsigned long long)snowflake_new(),
               STR_FMT(mailer_domain(o->mailer)));
    buf_printf(out, "Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
                    "Content-Type: text/plain; charset=us-ascii\r\n\r\n");
    buf_printf(out, "%s\r\n\r\n",
               reset ? "Somebody, perhaps you, wants a new password for your account at"
                     : "Somebody, perhaps you, says that this is the address of an account at");
    timestamp_http(l->expires_at / SECOND_US, until);
    buf_printf(out, "%.*s\r\n\r\n%s, once, until %s:\r\n\r\n", STR_FMT(here),
               reset ? "This page takes it" : "This page confirms it", until);
    buf_printf(out, "%.*s/%s#token=%.*s\r\n\r\n", STR_FMT(here), reset ? "reset" : "verify",
               STR_FMT(token));
    buf_printf(out, "If it was not you, there is nothing to do.\r\n");
}

/* --- stages of the job ------------------------------------------------------------------ */

static void mail_await(struct call *call);

static enum err mail_look(struct call *call)
{
    struct mail_errand *m = call_passed(call, "mail_delivery");
    struct link_row l;
    struct buf text;

    m->state = MAIL_NEEDLESS;
    call->await = NULL;
    enum err e = link_row_find(call, m->job.key, m->purpose, &l);
    if (e || !l.is_good || !mail_is_on(call) || !mail_address_fits(l.address))
        return e;
    buf_init(&text, LONGEST_MAIL);
    write_mail(&text, call, &l);
    m->mail.to = str_dupz(call->arena, l.address);
    m->mail.text = buf_take(&text, call->arena);
    call->await = mail_await;
    return OK;
}

static void mail_posted(struct post *p)
{
    struct mail_errand *m = container_of(p, struct mail_errand, mail.posted);

    m->state = MAIL_TRIED;
    call_resume(m->call, OK);
}

static void mail_await(struct call *call)
{
    struct mail_errand *m = call_passed(call, "mail_delivery");

    m->call = call;
    m->mail.loop = call->loop;
    m->mail.posted.run = mail_posted;
    if (mailer_send(api_options(call->api)->mailer, &m->mail))
        return;
    m->state = MAIL_LINE_FULL;
    call_resume(call, OK);
}

static enum err mail_renew(struct call *call, const struct mail_errand *m, int64_t tries,
                           int64_t seconds)
{
    bool held;

    return job_renew(call, &m->job, clock_us() + seconds * SECOND_US,
                     str_printf(call->arena, "%lld", (long long)tries), &held);
}

static enum err mail_finish(struct call *call)
{
    const struct mail_errand *m = call_passed(call, "mail_delivery");

    if (m->state == MAIL_LINE_FULL)
        return mail_renew(call, m, m->tries, 2);
    if (m->state == MAIL_TRIED && m->mail.result == MAIL_STOPPED)
        return mail_renew(call, m, m->tries, 0);
    if (m->state == MAIL_TRIED && m->mail.result == MAIL_FAILED) {
        if (m->tries < (int64_t)COUNT_OF(pauses))
            return mail_renew(call, m, m->tries + 1, pauses[m->tries]);
        log_warn("mail: could not send the mailed link of account %llu; no more retries",
                 (unsigned long long)m->job.key);
    }
    return job_finish(call, &m->job);
}

static enum err mail_begin(struct call *call)
{
    call->look = mail_look;
    return OK;
}

static void mail_start(struct api *api, struct loop *loop, const struct job *job,
                       enum link_purpose purpose)
{
    struct mail_errand m = { .job = *job, .purpose = purpose };

    str_to_i64(job->data, &m.tries);
    m.job.data = (struct str){ 0 };
    errand_start(api, loop,
                 &(struct errand){ .name = job->kind->name,
                                   .store = ROUTE_STORE_WRITE,
                                   .decode = mail_begin,
                                   .run = mail_finish,
                                   .type = "mail_delivery",
                                   .data = &m,
                                   .size = sizeof m });
}

static void mail_verify_start(struct api *api, struct loop *loop, const struct job *job)
{
    mail_start(api, loop, job, LINK_VERIFY);
}

static void mail_reset_start(struct api *api, struct loop *loop, const struct job *job)
{
    mail_start(api, loop, job, LINK_RESET);
}

const struct job_kind mail_verify_job = {
    .name = "mail-verify",
    .doc = "Mails a link that verifies an email address.",
    .start = mail_verify_start,
    .lease_ms = MAIL_LEASE_MS,
};

const struct job_kind mail_reset_job = {
    .name = "mail-reset",
    .doc = "Mails a link for setting a new password.",
    .start = mail_reset_start,
    .lease_ms = MAIL_LEASE_MS,
};
