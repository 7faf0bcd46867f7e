/* request.c - a client whose session is, or was, at another server of the cluster.
 *
 * The store says who has it. A server that lives is asked to give it; one that was stopped has put
 * it away, and what happened since is read from the log (missed.c). A session that lies in the
 * store is anybody's, also one on its way to a server that its client has left since: who follows a
 * client from server to server would never reach it. Whatever the answer is, the store is asked
 * again: an answer only says that this is worth it now. */
#include "base/clock.h"
#include "base/mem.h"
#include "cluster/cluster.h"
#include "gateway/fanout/bus.h"
#include "gateway/resume/handover.h"
#include "gateway/resume/missed.h"
#include "gateway/resume/moves.h"
#include "gateway/resume/recovery.h"
#include "gateway/resume/session_bytes.h"
#include "gateway/resume/suspended_rows.h"
#include "gateway/resume/journal/event_log.h"
#include "gateway/resume/journal/owner_rows.h"
#include "gateway/resume/journal/owner.h"
#include "gateway/resume/journal/replica.h"
#include "gateway/sessions/registry.h"

enum {
    MOST_DENIALS = 3,
    MOST_LOOKS = 24,   /* about six seconds */
    SILENT_LOOKS = 4,  /* one second: so long its server may take to answer, … */
    KEEPER_LOOKS = 12, /* … so long may keepers, … */
    SHORT_LOOKS = 2,   /* … and so long others, when some have said that they know too little */
};

enum { QUESTION_BYTES = 64 };

enum fetch_state { FETCH_WAITS, FETCH_GOT, FETCH_GONE };

struct session_fetch {
    struct link link; /* in the hub's list */
    struct handover *handover;
    struct deadline deadline;
    struct load load;
    uint64_t seen;  /* the last event that the session heard of */
    uint64_t begun; /* the last event that this loop had begun when it began to note them */
    struct missed_events missed; /* of the log, between the two */
    unsigned looks;
    bool looking, heard;        /* the store or the log is being read; an answer came meanwhile */
    uint32_t asked;             /* whom; 0: nobody yet */
    uint32_t kept_of;           /* of whom keepers were asked for it; 0: they were not yet */
    unsigned asked_at, kept_at; /* in which look each was, … */
    unsigned short_at;          /* … and somebody said that they know too little; 0: nobody has */
    unsigned denials;
    bool abandoned; /* its socket is gone: what was asked for is left in the store */
    /* of a look */
    struct session_move question;
    enum fetch_state state;
    bool asks, recovered;
    bool unfit;       /* nobody who keeps it can help */
    bool misses;      /* there is something to be read of the log */
    struct str bytes; /* of the session: in the look's arena, … */
    struct buf kept;  /* … and while the log is read */
};

static void fetch_look(struct session_fetch *f);

/* --- a look at the store -------------------------------------------------------------- */

static uint64_t last_missed(const struct session_fetch *f)
{
    return f->recovered && f->seen > f->begun ? f->seen : f->begun;
}

/* What was told between the last event that it heard and the first that this loop has noted. Of
 * one whose server was killed also what that last event was: it may have been in the middle of
 * it. Whether the log has it is asked here, what it says is read beside the writer. */
static enum err look_for_missed(struct session_fetch *f, struct tx *tx)
{
    const struct gateway *g = f->load.hub->gateway;

    if (!session_bytes_seen(f->bytes, &f->seen) || (f->seen >= f->begun && !f->recovered))
        return OK;
    f->missed = missed_between(f->seen, last_missed(f), f->recovered);
    int64_t first = 0, end = 0;
    enum err e = event_log_range(tx, &first, &end);
    /* A ledger that knows more than the log did when this process began is of another time: a
     * backup was restored since. Beside other servers the log may have grown meanwhile. */
    bool alone = cluster_is_alone(g->cluster);
    int64_t known = alone ? (int64_t)(g->older >> NUMBERS_OF_POSITION) : end;
    bool older = f->recovered && known < f->missed.at + 1;
    f->misses = !e && !older && !missed_is_cut(&f->missed, first);
    if (!e && !f->misses)
        f->state = FETCH_GONE;
    return e;
}

/* From the store, if it lies there. */
static enum err take_bytes(struct session_fetch *f, const struct gateway *g, struct tx *tx,
                           const struct session_owner *home)
{
    const struct resumption *r = f->handover->resumption;
    uint32_t me = cluster_identity(g->cluster);
    bool moved = true;
    enum err e = suspended_row_take(tx, r->number, r->greeting.caller.id, clock_ms(), &f->bytes);

    if (!e && f->bytes.n && home->identity != me)
        e = owner_row_change(tx, r->number, home->identity, me, &moved);
    if (e || !f->bytes.n)
        return e;
    f->state = moved ? FETCH_GOT : FETCH_WAITS;
    return moved ? look_for_missed(f, tx) : OK;
}

static void ask_for_it(struct session_fetch *f, const struct gateway *g, struct tx *tx,
                       uint32_t identity)
{
    const struct resumption *r = f->handover->resumption;

    f->question = (struct session_move){
        .kind = MOVE_ASK, .from = identity, .to = cluster_identity(g->cluster), .number = r->number
    };
    memcpy(f->question.id, r->id, sizeof f->question.id);
    cluster_log_move(g->cluster, tx, &f->question);
    f->asks = true;
}

/* Whether its server is known to be gone, so that nobody has to be asked. */
static enum err take_from_ledger(struct session_fetch *f, struct tx *tx, uint32_t identity,
                                 bool silent, bool *ret)
{
    const struct gateway *g = f->load.hub->gateway;
    const struct resumption *r = f->handover->resumption;
    enum ledger_answer answer;
    enum err e = recovery_take(g, tx, r, identity, silent, &answer, &f->bytes);

    f->unfit = answer == LEDGER_UNFIT;
    if (answer == LEDGER_SHORT && !f->short_at)
        f->short_at = f->looks;
    *ret = answer == LEDGER_GONE || answer == LEDGER_FOUND;
    if (e || !*ret)
        return e;
    f->recovered = answer == LEDGER_FOUND;
    f->state = f->recovered ? FETCH_GOT : FETCH_GONE;
    if (f->recovered)
        e = look_for_missed(f, tx);
    if (!e && f->recovered && f->state == FETCH_GONE)
        e = owner_row_remove(tx, r->number, cluster_identity(g->cluster));
    /* Should it go on after all it reads the question, and finds that it has given it away. */
    if (!e && silent && f->asked != identity)
        ask_for_it(f, g, tx, identity);
    return e;
}

/* Its machine may be gone. It may as well be slow: then it finds that the session is elsewhere. */
static bool is_silent(const struct session_fetch *f, const struct session_owner *home)
{
    return !home->alive || (home->identity == f->asked && f->looks - f->asked_at >= SILENT_LOOKS);
}

static void ask_keepers(const struct session_fetch *f, uint32_t identity)
{
    const struct gateway *g = f->load.hub->gateway;
    const struct resumption *r = f->handover->resumption;
    struct buf question;

    buf_init(&question, QUESTION_BYTES);
    keeper_write_question(&question, identity, r->number, r->seq, cluster_identity(g->cluster));
    cluster_tell(g->cluster, CLUSTER_LEDGERS, buf_str(&question));
    buf_clear(&question);
}

/* Whether somebody may still say that they keep it. They are asked at each look until one has
 * answered: a question may be lost, and who has just come is not heard yet. */
static bool keepers_may_answer(struct session_fetch *f, uint32_t identity)
{
    bool first = f->kept_of != identity;

    if (!f->load.hub->gateway->keeper || f->unfit)
        return false;
    if (first) {
        f->kept_of = identity;
        f->kept_at = f->looks;
    }
    if (first || !f->short_at)
        ask_keepers(f, identity);
    if (f->short_at && f->looks - f->short_at >= SHORT_LOOKS)
        return false;
    return f->looks - f->kept_at < KEEPER_LOOKS;
}

static enum err fetch_read(struct load *l, struct tx *tx)
{
    struct session_fetch *f = container_of(l, struct session_fetch, load);
    const struct gateway *g = l->hub->gateway;
    const struct resumption *r = f->handover->resumption;
    struct session_owner home;
    bool gone = false;

    f->state = f->abandoned ? FETCH_GONE : FETCH_WAITS;
    f->asks = f->recovered = f->misses = false;
    f->bytes = STR("");
    if (f->abandoned)
        return OK;
    enum err e = owner_row_find(tx, r->number, r->greeting.caller.id, &home);
    if (!e && home.found)
        e = take_bytes(f, g, tx, &home);
    if (e || f->bytes.n)
        return e;
    bool elsewhere = home.identity && home.identity != cluster_identity(g->cluster);
    bool silent = elsewhere && is_silent(f, &home);
    if (elsewhere)
        e = take_from_ledger(f, tx, home.identity, silent, &gone);
    if (e || gone || (silent && keepers_may_answer(f, home.identity)))
        return e;
    if (!elsewhere || !home.alive || f->denials == MOST_DENIALS)
        f->state = FETCH_GONE;
    else if (home.identity != f->asked)
        ask_for_it(f, g, tx, home.identity);
    return OK;
}

static void fetch_committed(struct load *l)
{
    struct session_fetch *f = container_of(l, struct session_fetch, load);

    if (f->asks)
        cluster_moved(l->hub->gateway->cluster, &l->work, &f->question);
}

/* --- the end of it -------------------------------------------------------------------- */

static void fetch_end(struct session_fetch *f)
{
    struct handover *h = f->handover;

    link_remove(&f->link);
    if (map_get(&h->to->fetches_by_number, h->resumption->number) == f)
        map_remove(&h->to->fetches_by_number, h->resumption->number);
    deadline_drop(&f->deadline);
    if (f->state == FETCH_GOT)
        handover_unpack(h, f->kept.n ? buf_str(&f->kept) : f->bytes);
    h->recovered = f->recovered;
    registry_expect(h->to->gateway, h->resumption->number, NULL);
    buf_clear(&f->kept);
    mem_free(f);
    handover_arrive(h);
}

static void fetch_read_on(struct session_fetch *f);

/* A session that was taken and cannot be told what it missed is nobody's. */
static void fetch_read_done(struct load *l, enum err e)
{
    struct session_fetch *f = container_of(l, struct session_fetch, load);

    if (!e && missed_goes_on(&f->missed, f->handover)) {
        fetch_read_on(f);
        return;
    }
    if (e || !missed_is_whole(&f->missed)) {
        f->state = FETCH_GONE;
        home_forget_number(l->hub, f->handover->resumption->number);
    }
    fetch_end(f);
}

static enum err fetch_read_page(struct load *l, struct tx *tx)
{
    struct session_fetch *f = container_of(l, struct session_fetch, load);

    return missed_read_page(&f->missed, f->handover, tx);
}

static void fetch_read_on(struct session_fetch *f)
{
    f->load = (struct load){ .aside = true, .run = fetch_read_page, .done = fetch_read_done };
    hub_load_now(f->handover->to, &f->load);
}

/* Thousands of events may have been missed: they are read page by page, beside the loops and the
 * writer. */
static void fetch_begin_reading(struct session_fetch *f)
{
    f->looking = true;
    buf_init(&f->kept, f->bytes.n);
    buf_add_str(&f->kept, f->bytes);
    fetch_read_on(f);
}

static void fetch_looked(struct load *l, enum err e)
{
    struct session_fetch *f = container_of(l, struct session_fetch, load);

    f->looking = false;
    if (e)
        f->state = FETCH_WAITS;
    else if (f->asks) {
        f->asked = f->question.from;
        f->asked_at = f->looks;
    }
    if (f->state == FETCH_WAITS && f->looks < MOST_LOOKS) {
        if (f->heard)
            fetch_look(f);
        else
            deadline_touch(l->hub->fetching, &f->deadline);
        return;
    }
    if (f->state == FETCH_GOT && f->misses)
        fetch_begin_reading(f);
    else
        fetch_end(f);
}

/* --- from the beginning --------------------------------------------------------------- */

static void fetch_look(struct session_fetch *f)
{
    f->looks++;
    f->looking = true;
    f->heard = false;
    f->abandoned = !f->handover->resumption->greeting.peer;
    deadline_drop(&f->deadline);
    /* Who takes a session changes its row, and of two who do the second begins anew: no more
     * has to be kept apart. With other looks at these small tables every session that moves would
     * get in the way of every other. */
    f->load = (struct load){ .writes = true,
                             .own_rows = true,
                             .run = fetch_read,
                             .committed = fetch_committed,
                             .done = fetch_looked };
    hub_load_now(f->handover->to, &f->load);
}

void fetch_again(struct deadline *d)
{
    fetch_look(container_of(d, struct session_fetch, deadline));
}

void fetch_begin(struct resumption *r)
{
    struct hub *here = r->greeting.peer->hub;
    struct session_fetch *f = mem_new(sizeof *f);

    f->begun = here->begun > here->gateway->older ? here->begun : here->gateway->older;
    f->handover = handover_new(r, NULL);
    registry_expect(here->gateway, r->number, here);
    links_append(&here->fetches, &f->link);
    map_put(&here->fetches_by_number, r->number, f);
    fetch_look(f);
}

void fetches_drop(struct hub *h)
{
    while (!links_empty(&h->fetches)) {
        struct session_fetch *f = container_of(h->fetches.next, struct session_fetch, link);

        f->state = FETCH_GONE;
        fetch_end(f);
    }
}

/* --- what the others say -------------------------------------------------------------- */

struct fetch_answer {
    struct post post;
    struct hub *hub;
    struct session_move move;
};

/* A session that is gone there may have been put away just now. */
static void fetch_answered(struct post *post)
{
    struct fetch_answer *a = container_of(post, struct fetch_answer, post);
    struct session_fetch *f = map_get(&a->hub->fetches_by_number, a->move.number);

    /* It may have gone there, and back: it is asked again where it is now. */
    if (f && a->move.kind == MOVE_GONE) {
        f->denials++;
        f->asked = 0;
    }
    mem_free(a);
    if (!f)
        return;
    f->heard = true;
    if (!f->looking)
        fetch_look(f);
}

void fetch_heard(struct gateway *g, const struct session_move *m)
{
    pthread_mutex_lock(&g->publishing);
    for (unsigned i = 0; i < g->hub_count; i++) {
        struct fetch_answer *a = mem_new(sizeof *a);

        a->post.run = fetch_answered;
        a->hub = g->hubs[i];
        a->move = *m;
        loop_post(a->hub->loop, &a->post);
    }
    pthread_mutex_unlock(&g->publishing);
}
