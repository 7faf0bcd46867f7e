/* mailer.c - sends mail through the operator's SMTP server. */
#include "net/client/mailer.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/client/curl.h"

/* A mail belongs to a job with a lease (api/jobs/jobs.h). The limits are small enough that four
 * queued mails and the current one, each with its timeout, finish before their leases expire. */
enum { MAX_WAITING_MAILS = 4, MAIL_TIMEOUT_MS = 20000, MAIL_CONNECT_MS = 10000 };

struct mailer {
    char *url, *from, *envelope_from;
    bool is_local; /* whether the SMTP server is on this machine; then no TLS is needed */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct outgoing_mail *first, **end;
    unsigned waiting;
    _Atomic bool stopping;
    int fd;     /* socket of the SMTP connection; -1 if there is no connection */
    CURL *easy; /* libcurl handle of the mailer thread; retained to reuse the SMTP connection */
};

static size_t copy_mail_to_curl(char *p, size_t size, size_t n, void *arg)
{
    struct str *left = arg;
    size_t taken = size * n < left->n ? size * n : left->n;

    memcpy(p, left->p, taken);
    *left = str_skip_bytes(*left, taken);
    return taken;
}

static int on_mail_progress(void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    (void)a, (void)b, (void)c, (void)d;
    return ((struct mailer *)arg)->stopping;
}

/* Stores the socket, so that mailer_stop can shut it down without waiting for the reply to QUIT. */
static curl_socket_t on_mail_socket_open(void *arg, curlsocktype purpose, struct curl_sockaddr *a)
{
    struct mailer *m = arg;

    (void)purpose;
    pthread_mutex_lock(&m->lock);
    m->fd = m->stopping ? -1 : socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
    int fd = m->fd;
    pthread_mutex_unlock(&m->lock);
    return fd < 0 ? CURL_SOCKET_BAD : fd;
}

static int on_mail_socket_close(void *arg, curl_socket_t fd)
{
    struct mailer *m = arg;

    pthread_mutex_lock(&m->lock);
    if (m->fd == fd)
        m->fd = -1;
    close(fd);
    pthread_mutex_unlock(&m->lock);
    return 0;
}

static void mail_set_options(struct mailer *m, struct str *text, struct curl_slist *to)
{
    CURL *e = m->easy;

    curl.easy_setopt(e, CURLOPT_URL, m->url);
    curl.easy_setopt(e, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    curl.easy_setopt(e, CURLOPT_USE_SSL, (long)(m->is_local ? CURLUSESSL_NONE : CURLUSESSL_ALL));
    curl.easy_setopt(e, CURLOPT_PROXY, ""); /* ignores proxy settings of the environment */
    curl.easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    if (find_ca_bundle())
        curl.easy_setopt(e, CURLOPT_CAINFO, find_ca_bundle());
    curl.easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)MAIL_TIMEOUT_MS);
    curl.easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)MAIL_CONNECT_MS);
    curl.easy_setopt(e, CURLOPT_SERVER_RESPONSE_TIMEOUT, (long)MAIL_TIMEOUT_MS / 1000);
    curl.easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, on_mail_socket_open);
    curl.easy_setopt(e, CURLOPT_OPENSOCKETDATA, m);
    curl.easy_setopt(e, CURLOPT_CLOSESOCKETFUNCTION, on_mail_socket_close);
    curl.easy_setopt(e, CURLOPT_CLOSESOCKETDATA, m);
    curl.easy_setopt(e, CURLOPT_NOPROGRESS, 0L);
    curl.easy_setopt(e, CURLOPT_XFERINFOFUNCTION, on_mail_progress);
    curl.easy_setopt(e, CURLOPT_XFERINFODATA, m);
    curl.easy_setopt(e, CURLOPT_MAIL_FROM, m->envelope_from);
    curl.easy_setopt(e, CURLOPT_MAIL_RCPT, to);
    curl.easy_setopt(e, CURLOPT_UPLOAD, 1L);
    curl.easy_setopt(e, CURLOPT_INFILESIZE_LARGE, (curl_off_t)text->n);
    curl.easy_setopt(e, CURLOPT_READFUNCTION, copy_mail_to_curl);
    curl.easy_setopt(e, CURLOPT_READDATA, text);
}

/* Returns true for SMTP replies 550-559, which reject the mailbox or the text permanently. Other
 * errors (wrong password, greylisting) may be temporary. */
static bool is_permanent_refusal(CURLcode code, long reply_code)
{
    return reply_code >= 550 && reply_code <= 559 &&
           (code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR ||
            code == CURLE_WEIRD_SERVER_REPLY);
}

static enum mail_result mail_result_from_curl(struct mailer *m, CURLcode code)
{
    long reply_code = 0;

    if (code == CURLE_OK)
        return MAIL_SENT;
    if (m->stopping)
        return MAIL_STOPPED;
    curl.easy_getinfo(m->easy, CURLINFO_RESPONSE_CODE, &reply_code);
    log_warn("mail: could not send a mail: %s (reply code of the mail server: %ld)",
             curl.easy_strerror(code), reply_code);
    return is_permanent_refusal(code, reply_code) ? MAIL_REFUSED : MAIL_FAILED;
}

static enum mail_result send_mail(struct mailer *m, const struct outgoing_mail *mail)
{
    struct str text = mail->text;

    if (m->stopping)
        return MAIL_STOPPED;
    if (!load_curl())
        return MAIL_FAILED;
    if (!m->easy)
        m->easy = curl.easy_init();
    struct curl_slist *to = curl.slist_append(NULL, mail->to);
    enum mail_result result = MAIL_FAILED;
    if (m->easy && to) {
        mail_set_options(m, &text, to);
        result = mail_result_from_curl(m, curl.easy_perform(m->easy));
    }
    curl.slist_free_all(to);
    return result;
}

static struct outgoing_mail *wait_for_queued_mail(struct mailer *m)
{
    struct outgoing_mail *mail;

    pthread_mutex_lock(&m->lock);
    while (!m->first && !m->stopping)
        pthread_cond_wait(&m->changed, &m->lock);
    mail = m->first;
    if (mail) {
        m->first = mail->next;
        if (!m->first)
            m->end = &m->first;
        m->waiting--;
    }
    pthread_mutex_unlock(&m->lock);
    return mail;
}

static void *run_mailer_thread(void *arg)
{
    struct mailer *m = arg;
    struct outgoing_mail *mail;

    while ((mail = wait_for_queued_mail(m))) {
        mail->result = send_mail(m, mail);
        loop_post_message(mail->loop, &mail->posted);
    }
    if (m->easy)
        curl.easy_cleanup(m->easy);
    return NULL;
}

bool mailer_send(struct mailer *m, struct outgoing_mail *mail)
{
    bool taken;

    mail->next = NULL;
    pthread_mutex_lock(&m->lock);
    taken = m->waiting < MAX_WAITING_MAILS && !m->stopping;
    if (taken) {
        *m->end = mail;
        m->end = &mail->next;
        m->waiting++;
        pthread_cond_signal(&m->changed);
    }
    pthread_mutex_unlock(&m->lock);
    return taken;
}

bool mail_address_is_sendable(struct str address)
{
    for (size_t i = 0; i < address.n; i++) {
        unsigned char c = (unsigned char)address.p[i];

        if (c <= ' ' || c >= 127 || strchr("<>()[]\\,;:\"", c))
            return false;
    }
    return address.n && address.n <= 254 && memchr(address.p, '@', address.n);
}

static struct str find_host_of_smtp_url(struct str url)
{
    struct str rest = str_skip_bytes(url, str_starts_with(url, STR("smtps://")) ? 8 : 7);
    struct str host = str_cut(&rest, '/');

    for (const char *at; (at = memchr(host.p, '@', host.n));)
        host = str_skip_bytes(host, (size_t)(at - host.p) + 1);
    if (host.n && *host.p == '[')
        return str_cut(&host, ']');
    return str_cut(&host, ':');
}

static bool smtp_host_is_local(struct str host)
{
    return str_starts_with(host, STR("127.")) || str_is(host, "localhost") || str_is(host, "[::1");
}

static struct str address_in_mail_envelope(struct str from)
{
    const char *open = memchr(from.p, '<', from.n);

    if (!open || from.p[from.n - 1] != '>')
        return from;
    return str_slice(open + 1, (size_t)(from.p + from.n - 1 - open - 1));
}

static bool is_printable_line(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' || (unsigned char)s.p[i] >= 127)
            return false;
    return true;
}

static const char *find_mailer_option_error(const struct mailer_options *o)
{
    struct str url = str_of(o->url), from = str_of(o->from);

    if (!str_starts_with(url, STR("smtp://")) && !str_starts_with(url, STR("smtps://")))
        return "smtp-url must start with smtp:// or smtps://";
    if (!find_host_of_smtp_url(url).n)
        return "smtp-url contains no host name of a mail server";
    if (!from.n || !is_printable_line(from) ||
        !mail_address_is_sendable(address_in_mail_envelope(from)))
        return "smtp-url requires smtp-from, in the form a@b or Name <a@b>";
    return NULL;
}

struct mailer *mailer_new(const struct mailer_options *options, const char **ret_problem)
{
    *ret_problem = find_mailer_option_error(options);
    if (*ret_problem)
        return NULL;
    struct mailer *m = mem_new(sizeof *m);
    struct str sender = address_in_mail_envelope(str_of(options->from));

    m->url = mem_dup_cstring(options->url);
    m->from = mem_dup_cstring(options->from);
    m->envelope_from = mem_new(sender.n + 1);
    memcpy(m->envelope_from, sender.p, sender.n);
    m->is_local = str_starts_with(str_of(m->url), STR("smtp://")) &&
                  smtp_host_is_local(find_host_of_smtp_url(str_of(m->url)));
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->changed, NULL);
    m->end = &m->first;
    m->fd = -1;
    int failed = pthread_create(&m->thread, NULL, run_mailer_thread, m);
    assert(!failed);
    (void)failed;
    return m;
}

struct str mailer_get_from_header(const struct mailer *m)
{
    return str_of(m->from);
}

struct str mailer_get_sender_domain(const struct mailer *m)
{
    return str_of(strrchr(m->envelope_from, '@') + 1);
}

void mailer_stop(struct mailer *m)
{
    if (!m)
        return;
    pthread_mutex_lock(&m->lock);
    m->stopping = true;
    if (m->fd >= 0)
        shutdown(m->fd, SHUT_RDWR);
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
}

void mailer_free(struct mailer *m)
{
    if (!m)
        return;
    mailer_stop(m);
    pthread_join(m->thread, NULL);
    pthread_cond_destroy(&m->changed);
    pthread_mutex_destroy(&m->lock);
    mem_free(m->url);
    mem_free(m->from);
    mem_free(m->envelope_from);
    mem_free(m);
}
