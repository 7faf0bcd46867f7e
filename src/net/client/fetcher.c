/* fetcher.c - outgoing HTTP requests with libcurl on an event loop.
 *
 * libcurl reports which sockets and which timer it needs, and the event loop watches them. */
#include "net/client/fetcher.h"

#include <sys/socket.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/links.h"
#include "base/mem.h"
#include "net/address.h"
#include "net/client/curl.h"

/* Time limit per loop iteration for receiving responses, in ns. libcurl may deliver more than 1 MiB
 * in one call, so each write callback checks the time. A request that exceeds the limit is paused
 * until a later iteration. */
enum { MAX_FETCH_NS = 4 * 1000 * 1000 };

struct fetcher {
    struct loop *loop;
    bool allow_private;
    char *ca_file;
    CURLM *multi;      /* created with the first request */
    uv_timer_t *timer; /* the timer that libcurl asked for */
    uv_timer_t *again; /* timer that fires in the next loop iteration and resumes paused requests */
    struct list_link paused;
    bool is_due;    /* whether libcurl's timer has expired */
    bool has_ended; /* whether a request has finished and its `done` was not called yet */
    struct loop_iteration_callback iteration_end;
    int64_t until; /* end of the time limit of this loop iteration, in ns; 0 before its first use */
    struct list_link jobs;
};

struct fetch_job {
    struct list_link link;
    struct list_link paused;  /* link in fetcher->paused while the request is paused */
    struct loop_message post; /* message to the loop that reports a request that could not be
                               * started */
    struct fetcher *fetcher; /* fetcher that runs the request; may already be freed when the message
                              * `post` runs */
    struct loop *loop;
    bool public_only;
    CURL *easy;
    struct curl_slist *headers;
    struct buf body;
    bool forbidden, too_large;
    enum fetch_result result; /* result of a request that could not be started */
    void (*done)(void *, enum fetch_result, int, struct str, struct buf *);
    void *arg;
};

/* A socket of libcurl that the event loop watches. */
struct socket_watch {
    uv_poll_t poll;
    struct fetcher *fetcher;
    curl_socket_t fd;
};

/* --- time limit per loop iteration ---------------------------------------------------- */

static bool iteration_time_is_used_up(struct fetcher *f)
{
    int64_t now = clock_monotonic_ns();

    if (!f->until)
        f->until = now + MAX_FETCH_NS;
    return now > f->until;
}

static void pause_fetch_until_next_iteration(struct fetch_job *j)
{
    if (!j->paused.next)
        linked_list_append(&j->fetcher->paused, &j->paused);
}

static void fetch_job_free(struct fetch_job *j)
{
    linked_list_remove(&j->link);
    linked_list_remove(&j->paused);
    if (j->easy) {
        curl.multi_remove_handle(j->fetcher->multi, j->easy);
        curl.easy_cleanup(j->easy);
    }
    if (j->headers)
        curl.slist_free_all(j->headers);
    loop_free_buf_on_thread_pool(j->loop, &j->body);
    mem_free(j);
}

const char *fetch_result_describe(enum fetch_result result)
{
    static const char *const reasons[] = {
        [FETCH_OK] = "the response is unexpected",
        [FETCH_BAD_URL] = "the URL is malformed",
        [FETCH_FORBIDDEN] = "its address is private and private-endpoints does not allow it",
        [FETCH_UNREACHABLE] = "it is unreachable",
        [FETCH_TIMEOUT] = "the request timed out",
        [FETCH_TOO_LARGE] = "the response is too large",
    };

    return reasons[result];
}

static enum fetch_result fetch_result_from_curl(const struct fetch_job *j, CURLcode code)
{
    if (code == CURLE_OK)
        return FETCH_OK;
    if (j->too_large)
        return FETCH_TOO_LARGE;
    if (j->forbidden)
        return FETCH_FORBIDDEN;
    if (code == CURLE_OPERATION_TIMEDOUT)
        return FETCH_TIMEOUT;
    return code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL ? FETCH_BAD_URL
                                                                             : FETCH_UNREACHABLE;
}

static void finish_fetch_without_response(struct fetch_job *j, enum fetch_result result)
{
    loop_free_buf_on_thread_pool(j->loop, &j->body);
    j->done(j->arg, result, 0, STR(""), &j->body);
}

static void finish_fetch(struct fetch_job *j, CURLcode code)
{
    enum fetch_result result = fetch_result_from_curl(j, code);
    long status = 0;
    char *type = NULL;

    if (result == FETCH_OK) {
        curl.easy_getinfo(j->easy, CURLINFO_RESPONSE_CODE, &status);
        curl.easy_getinfo(j->easy, CURLINFO_CONTENT_TYPE, &type);
        j->done(j->arg, result, (int)status, str_of(type), &j->body);
    } else {
        finish_fetch_without_response(j, result);
    }
    fetch_job_free(j);
}

static void finish_completed_fetches(struct fetcher *f)
{
    CURLMsg *m;
    int left;

    while (!(f->has_ended = iteration_time_is_used_up(f)) &&
           (m = curl.multi_info_read(f->multi, &left))) {
        struct fetch_job *j = NULL;
        CURLcode code = m->data.result;

        if (m->msg != CURLMSG_DONE)
            continue;
        curl.easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &j);
        finish_fetch(j, code);
    }
}

static void on_fetch_not_started(struct loop_message *p)
{
    struct fetch_job *j = container_of(p, struct fetch_job, post);

    finish_fetch_without_response(j, j->result);
    fetch_job_free(j);
}

/* --- sockets and timers of libcurl ---------------------------------------------------- */

/* Resumes paused requests. libcurl then delivers the data that it has buffered, and requests may be
 * paused again. */
static void resume_paused_fetches(struct fetcher *f)
{
    while (!linked_list_is_empty(&f->paused) && !iteration_time_is_used_up(f)) {
        struct fetch_job *j = container_of(f->paused.next, struct fetch_job, paused);

        linked_list_remove(&j->paused);
        CURLcode code = curl.easy_pause(j->easy, CURLPAUSE_CONT);
        if (code != CURLE_OK)
            finish_fetch(j, code);
    }
}

static void resume_fetches_and_run_due_timer(struct fetcher *f)
{
    int running;

    loop_set_measured_activity("fetching");
    resume_paused_fetches(f);
    if (f->is_due && !iteration_time_is_used_up(f)) {
        f->is_due = false;
        curl.multi_socket_action(f->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    finish_completed_fetches(f);
}

static void on_continue_timer(uv_timer_t *timer)
{
    resume_fetches_and_run_due_timer(timer->data);
}

/* Starts the timer at the end of the iteration, because a timer of 0 ms that is started inside a
 * timer callback may run in the same iteration. */
static void on_fetcher_iteration_end(struct loop_iteration_callback *t)
{
    struct fetcher *f = container_of(t, struct fetcher, iteration_end);

    f->until = 0;
    if (f->is_due || f->has_ended || !linked_list_is_empty(&f->paused))
        uv_timer_start(f->again, on_continue_timer, 0, 0);
}

static void on_socket_ready(uv_poll_t *poll, int status, int events)
{
    struct socket_watch *w = container_of(poll, struct socket_watch, poll);
    struct fetcher *f = w->fetcher;
    int flags = status < 0 ? CURL_CSELECT_ERR : 0;
    int running;

    loop_set_measured_activity("fetching");
    /* Return now: the socket stays readable, so the next loop iteration reports it again. */
    if (status == 0 && iteration_time_is_used_up(f))
        return;
    if (events & UV_READABLE)
        flags |= CURL_CSELECT_IN;
    if (events & UV_WRITABLE)
        flags |= CURL_CSELECT_OUT;
    curl.multi_socket_action(f->multi, w->fd, flags, &running);
    finish_completed_fetches(f);
}

static void on_socket_watch_closed(uv_handle_t *handle)
{
    mem_free(container_of(handle, struct socket_watch, poll));
}

static int on_curl_socket_change(CURL *easy, curl_socket_t fd, int what, void *arg, void *known)
{
    struct fetcher *f = arg;
    struct socket_watch *w = known;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (w) {
            uv_poll_stop(&w->poll);
            uv_close((uv_handle_t *)&w->poll, on_socket_watch_closed);
            curl.multi_assign(f->multi, fd, NULL);
        }
        return 0;
    }
    if (!w) {
        w = mem_new(sizeof *w);
        w->fetcher = f;
        w->fd = fd;
        if (uv_poll_init(loop_get_uv_loop(f->loop), &w->poll, fd) != 0) {
            mem_free(w);
            return -1;
        }
        curl.multi_assign(f->multi, fd, w);
    }
    int events = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
    return uv_poll_start(&w->poll, events, on_socket_ready) == 0 ? 0 : -1;
}

static void on_curl_timer(uv_timer_t *timer)
{
    struct fetcher *f = timer->data;

    f->is_due = true;
    resume_fetches_and_run_due_timer(f);
}

static int set_curl_timer(CURLM *multi, long ms, void *arg)
{
    struct fetcher *f = arg;

    (void)multi;
    if (ms < 0)
        uv_timer_stop(f->timer);
    else
        uv_timer_start(f->timer, on_curl_timer, (uint64_t)ms, 0);
    return 0;
}

/* Reserves the announced Content-Length, to avoid copies while the buffer grows. If the length
 * exceeds the limit of the response, marks the buffer as full, so that the request fails at once.
 */
static void reserve_response_body(struct fetch_job *j)
{
    curl_off_t length = -1;

    if (curl.easy_getinfo(j->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length) == CURLE_OK &&
        length > 0)
        buf_reserve(&j->body, (size_t)length);
}

static size_t on_response_bytes(char *p, size_t size, size_t n, void *arg)
{
    struct fetch_job *j = arg;

    if (iteration_time_is_used_up(j->fetcher)) {
        pause_fetch_until_next_iteration(j);
        return CURL_WRITEFUNC_PAUSE;
    }
    if (!j->body.n)
        reserve_response_body(j);
    buf_add(&j->body, p, size * n);
    j->too_large = buf_is_full(&j->body);
    return j->too_large ? 0 : size * n;
}

/* libcurl callback that creates the socket for a resolved address. The address is checked here, so
 * that a DNS answer that changes later cannot bypass the check. */
static curl_socket_t open_socket_if_address_allowed(void *arg, curlsocktype purpose,
                                                    struct curl_sockaddr *a)
{
    struct fetch_job *j = arg;

    (void)purpose;
    if ((j->public_only || !j->fetcher->allow_private) && !ip_address_is_public(&a->addr)) {
        j->forbidden = true;
        return CURL_SOCKET_BAD;
    }
    return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

static bool url_has_component(CURLU *u, CURLUPart part)
{
    char *text = NULL;
    bool has = curl.url_get(u, part, &text, 0) == CURLUE_OK;

    curl.free(text);
    return has;
}

static bool scheme_is_http(CURLU *u)
{
    char *scheme = NULL;
    bool http = curl.url_get(u, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
                (str_is(str_of(scheme), "http") || str_is(str_of(scheme), "https"));

    curl.free(scheme);
    return http;
}

static bool url_is_allowed(const char *url)
{
    CURLU *u = curl.url();
    bool good = u && curl.url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK && scheme_is_http(u) &&
                !url_has_component(u, CURLUPART_USER) && !url_has_component(u, CURLUPART_PASSWORD);

    curl.url_cleanup(u);
    return good;
}

/* Returns true if a header value has no line break. A line break would start another header. */
static bool has_no_line_break(struct str s)
{
    return !memchr(s.p, '\r', s.n) && !memchr(s.p, '\n', s.n) && !memchr(s.p, 0, s.n);
}

static bool add_request_headers(struct fetch_job *j, const struct fetch_request *r)
{
    struct buf line;

    buf_init(&line, 64 * 1024);
    /* An empty Expect header prevents libcurl from waiting for "100 Continue" before sending the
     * body. */
    j->headers = curl.slist_append(NULL, "Expect:");
    for (size_t i = 0; i < r->header_count; i++) {
        const struct fetch_header *h = &r->headers[i];

        if (!has_no_line_break(h->name) || (h->value.n && !has_no_line_break(h->value)))
            continue;
        buf_reset(&line);
        buf_add_str(&line, h->name);
        /* If the value is empty, write "Name;": libcurl then sends an empty header. */
        buf_add_str(&line, h->value.n ? STR(": ") : STR(";"));
        buf_add_str(&line, h->value);
        buf_add_char(&line, 0);
        if (buf_is_full(&line))
            break;
        j->headers = curl.slist_append(j->headers, line.p);
    }
    bool whole = !buf_is_full(&line);
    buf_clear(&line);
    return whole && j->headers;
}

static void set_request_method(struct fetch_job *j, const struct fetch_request *r)
{
    if (str_is(str_of(r->method), "HEAD"))
        curl.easy_setopt(j->easy, CURLOPT_NOBODY, 1L);
    else
        curl.easy_setopt(j->easy, CURLOPT_CUSTOMREQUEST, r->method);
    if (r->body.n || str_is(str_of(r->method), "POST")) {
        curl.easy_setopt(j->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body.n);
        curl.easy_setopt(j->easy, CURLOPT_COPYPOSTFIELDS, r->body.n ? r->body.p : "");
    }
}

static void set_request_options(struct fetch_job *j, const struct fetch_request *r)
{
    CURL *e = j->easy;

    curl.easy_setopt(e, CURLOPT_PRIVATE, j);
    curl.easy_setopt(e, CURLOPT_URL, r->url);
    curl.easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    curl.easy_setopt(e, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    curl.easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
    curl.easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl.easy_setopt(e, CURLOPT_PROXY, ""); /* ignores proxy settings of the environment */
    curl.easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    /* On a timeout, do not block the loop to wait for libcurl's resolver thread. */
    curl.easy_setopt(e, CURLOPT_QUICK_EXIT, 1L);
    curl.easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)r->timeout_ms);
    curl.easy_setopt(e, CURLOPT_HTTPHEADER, j->headers);
    curl.easy_setopt(e, CURLOPT_WRITEFUNCTION, on_response_bytes);
    curl.easy_setopt(e, CURLOPT_WRITEDATA, j);
    curl.easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, open_socket_if_address_allowed);
    curl.easy_setopt(e, CURLOPT_OPENSOCKETDATA, j);
    /* Use a new connection: a cached one may lead to a private address that another request was
     * allowed to use. */
    curl.easy_setopt(e, CURLOPT_FRESH_CONNECT, (long)r->public_only);
    if (j->fetcher->ca_file)
        curl.easy_setopt(e, CURLOPT_CAINFO, j->fetcher->ca_file);
    set_request_method(j, r);
}

static uv_timer_t *fetcher_timer_new(struct fetcher *f)
{
    uv_timer_t *timer = mem_new(sizeof *timer);

    uv_timer_init(loop_get_uv_loop(f->loop), timer);
    timer->data = f;
    return timer;
}

static bool fetcher_init_curl(struct fetcher *f)
{
    if (f->multi)
        return true;
    if (!load_curl())
        return false;
    f->multi = curl.multi_init();
    if (!f->multi)
        return false;
    f->timer = fetcher_timer_new(f);
    f->again = fetcher_timer_new(f);
    f->iteration_end.run = on_fetcher_iteration_end;
    loop_add_iteration_callback(f->loop, &f->iteration_end);
    curl.multi_setopt(f->multi, CURLMOPT_SOCKETFUNCTION, on_curl_socket_change);
    curl.multi_setopt(f->multi, CURLMOPT_SOCKETDATA, f);
    curl.multi_setopt(f->multi, CURLMOPT_TIMERFUNCTION, set_curl_timer);
    curl.multi_setopt(f->multi, CURLMOPT_TIMERDATA, f);
    return true;
}

static enum fetch_result start_fetch(struct fetch_job *j, const struct fetch_request *r)
{
    if (!fetcher_init_curl(j->fetcher))
        return FETCH_UNREACHABLE;
    if (!url_is_allowed(r->url))
        return FETCH_BAD_URL;
    j->easy = curl.easy_init();
    if (!j->easy || !add_request_headers(j, r))
        return FETCH_UNREACHABLE;
    set_request_options(j, r);
    return curl.multi_add_handle(j->fetcher->multi, j->easy) == CURLM_OK ? FETCH_OK
                                                                         : FETCH_UNREACHABLE;
}

void fetcher_start_request(struct fetcher *f, const struct fetch_request *request)
{
    struct fetch_job *j = mem_new(sizeof *j);

    j->fetcher = f;
    j->loop = f->loop;
    j->done = request->done;
    j->arg = request->arg;
    j->public_only = request->public_only;
    buf_init(&j->body, request->max_response);
    linked_list_append(&f->jobs, &j->link);
    j->result = start_fetch(j, request);
    if (j->result == FETCH_OK)
        return;
    if (j->easy)
        curl.easy_cleanup(j->easy);
    j->easy = NULL;
    j->post.run = on_fetch_not_started;
    loop_post_message(f->loop, &j->post);
}

struct fetcher *fetcher_new(struct loop *l, const struct fetch_options *options)
{
    const char *ca_file = options->ca_file ? options->ca_file : find_ca_bundle();
    struct fetcher *f = mem_new(sizeof *f);

    f->loop = l;
    f->allow_private = options->allow_private;
    f->ca_file = ca_file ? mem_dup_cstring(ca_file) : NULL;
    linked_list_init(&f->jobs);
    linked_list_init(&f->paused);
    return f;
}

static void on_timer_closed(uv_handle_t *handle)
{
    mem_free(handle);
}

static void abort_fetch_job(struct fetch_job *j)
{
    /* If the job's message is queued on the loop, the job is freed when the message runs. */
    if (j->post.run) {
        linked_list_remove(&j->link);
        return;
    }
    finish_fetch_without_response(j, FETCH_UNREACHABLE);
    fetch_job_free(j);
}

void fetcher_free(struct fetcher *f)
{
    if (!f)
        return;
    while (!linked_list_is_empty(&f->jobs))
        abort_fetch_job(container_of(f->jobs.next, struct fetch_job, link));
    if (f->multi) {
        loop_remove_iteration_callback(&f->iteration_end);
        curl.multi_cleanup(f->multi);
        uv_close((uv_handle_t *)f->timer, on_timer_closed);
        uv_close((uv_handle_t *)f->again, on_timer_closed);
    }
    mem_free(f->ca_file);
    mem_free(f);
}
