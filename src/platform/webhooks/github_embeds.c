/* github_embeds.c - builds embeds for GitHub events from a table of event types. */
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "platform/webhooks/github.h"

enum {
    MAX_DESCRIPTION = 500,
    MOST_URL = 2048,
    SHOWN_COMMITS = 10,
    MAX_COMMIT_LINE = 80,
    LONGEST_LIST = 65536
};

/* --- helpers -------------------------------------------------------------------------- */

/* Truncates a text to `most` characters. The last character of a truncated text is an ellipsis. */
static struct str truncate_text(struct arena *arena, struct str s, size_t most)
{
    size_t at = 0;
    uint32_t cp;

    if (utf8_length(s) <= most)
        return s;
    for (size_t i = 0; i + 1 < most; i++)
        at += utf8_decode(str_skip_bytes(s, at), &cp);
    return STR_CONCAT(arena, str_slice(s.p, at), STR("…"));
}

static struct opt_str embed_url_if_valid(struct opt_str url)
{
    bool good = (str_starts_with(url.value, STR("https://")) ||
                 str_starts_with(url.value, STR("http://"))) &&
                utf8_length(url.value) <= MOST_URL;

    return good ? (struct opt_str){ GIVEN, url.value } : (struct opt_str){ 0 };
}

static struct opt_object embed_author_of_sender(struct arena *arena,
                                                const struct github_object *sender)
{
    struct embed_author *author;

    if (!sender || !sender->login.value.n)
        return (struct opt_object){ 0 };
    author = arena_alloc(arena, sizeof *author);
    *author = (struct embed_author){ truncate_text(arena, sender->login.value, EMBED_MOST_TITLE),
                                     embed_url_if_valid(sender->html_url),
                                     embed_url_if_valid(sender->avatar_url) };
    return (struct opt_object){ GIVEN, author };
}

static struct str shorten_commit_id(struct str id)
{
    return str_slice(id.p, id.n < 7 ? id.n : 7);
}

/* Returns the display name of an object, such as "#5 Title". */
static struct str format_github_object_name(struct arena *arena, const struct github_object *o)
{
    const struct str names[] = { o->title.value,
                                 o->full_name.value,
                                 o->name.value,
                                 o->tag_name.value,
                                 o->login.value,
                                 o->head_branch.value,
                                 shorten_commit_id(o->commit_id.value) };
    struct str name = { 0 };

    for (size_t i = 0; !name.n && i < sizeof names / sizeof *names; i++)
        name = names[i];
    if (o->number.given == GIVEN)
        return str_printf(arena, "#%" PRId64 " %.*s", o->number.value, STR_ARGS(name));
    return name;
}

/* Removes "refs/heads/" or "refs/tags/" from a Git ref. */
static struct str strip_prefix_of_git_ref(struct str ref)
{
    static const char heads[] = "refs/heads/", tags[] = "refs/tags/";

    if (str_starts_with(ref, STR(heads)))
        return str_skip_bytes(ref, sizeof heads - 1);
    return str_starts_with(ref, STR(tags)) ? str_skip_bytes(ref, sizeof tags - 1) : ref;
}

/* --- pushes --------------------------------------------------------------------------- */

static void add_commit_line(struct arena *arena, struct buf *out, const struct github_commit *c)
{
    struct str rest = c->message.value, line = str_cut(&rest, '\n');
    struct str id = shorten_commit_id(c->id.value);

    if (embed_url_if_valid(c->url).given == GIVEN)
        buf_printf(out, "[`%.*s`](%.*s) ", STR_ARGS(id), STR_ARGS(c->url.value));
    else
        buf_printf(out, "`%.*s` ", STR_ARGS(id));
    buf_add_str(out, truncate_text(arena, line, MAX_COMMIT_LINE));
    if (c->author && c->author->name.value.n)
        buf_printf(out, " - %.*s", STR_ARGS(c->author->name.value));
    buf_add_str(out, STR("\n"));
}

/* Formats the commits of a push, one line of text each. Lines are omitted but never truncated,
 * because a truncated link would not work. */
static struct str format_commit_lines(struct arena *arena, const struct list *commits)
{
    const struct github_commit *c = commits->items;
    struct buf out;
    size_t whole = 0;

    buf_init(&out, LONGEST_LIST);
    for (size_t i = 0; i < commits->count && i < SHOWN_COMMITS; i++) {
        add_commit_line(arena, &out, &c[i]);
        if (utf8_length(buf_as_str(&out)) > MAX_DESCRIPTION)
            break;
        whole = buf_as_str(&out).n;
    }
    struct str all = buf_move_to_arena(&out, arena);
    return str_slice(all.p, whole ? whole - 1 : 0);
}

static bool build_push_embed(struct arena *arena, const struct github_payload *in,
                             struct embed *ret)
{
    struct str lines = format_commit_lines(arena, &in->commits),
               branch = strip_prefix_of_git_ref(in->ref.value);

    /* A push without commits has created or deleted a branch. GitHub sends another event for that,
     * so ignore the push. */
    if (!in->commits.count)
        return false;
    ret->title.value =
        str_printf(arena, "[%.*s:%.*s] %zu new commit%s", STR_ARGS(in->repository->full_name.value),
                   STR_ARGS(branch), in->commits.count, in->commits.count == 1 ? "" : "s");
    ret->url = embed_url_if_valid(in->compare);
    if (lines.n)
        ret->description = (struct opt_str){ GIVEN, lines };
    return true;
}

/* --- other events --------------------------------------------------------------------- */

#define OBJECT(member_) offsetof(struct github_payload, member_), #member_

static const struct github_event_type {
    const char *name;
    const char *what; /* noun of the title; NULL: use the payload's ref type */
    const char *did;  /* verb of the title; NULL: use the payload's action */
    size_t about;     /* offset in struct github_payload of the object that the title names */
    const char *about_field;
    size_t said; /* offset of the object from which the embed gets URL and body */
    const char *said_field;
    bool concluded; /* whether to ignore the event until the object has a conclusion */
} github_events[] = {
    { "commit_comment", "Commit comment", NULL, OBJECT(comment), OBJECT(comment), false },
    { "create", NULL, "created", OBJECT(repository), OBJECT(repository), false },
    { "delete", NULL, "deleted", OBJECT(repository), OBJECT(repository), false },
    { "fork", "Fork", "created", OBJECT(forkee), OBJECT(forkee), false },
    { "issue_comment", "Issue comment", NULL, OBJECT(issue), OBJECT(comment), false },
    { "issues", "Issue", NULL, OBJECT(issue), OBJECT(issue), false },
    { "member", "Collaborator", NULL, OBJECT(member), OBJECT(member), false },
    { "public", "Repository", "made public", OBJECT(repository), OBJECT(repository), false },
    { "pull_request", "Pull request", NULL, OBJECT(pull_request), OBJECT(pull_request), false },
    { "pull_request_review", "Pull request review", NULL, OBJECT(pull_request), OBJECT(review),
      false },
    { "pull_request_review_comment", "Pull request review comment", NULL, OBJECT(pull_request),
      OBJECT(comment), false },
    { "release", "Release", NULL, OBJECT(release), OBJECT(release), false },
    { "watch", "Star", "added", OBJECT(repository), OBJECT(repository), false },
    { "check_run", "Check run", NULL, OBJECT(check_run), OBJECT(check_run), true },
    { "check_suite", "Check suite", NULL, OBJECT(check_suite), OBJECT(check_suite), true },
    { "discussion", "Discussion", NULL, OBJECT(discussion), OBJECT(discussion), false },
    { "discussion_comment", "Discussion comment", NULL, OBJECT(discussion), OBJECT(comment),
      false },
};

static const struct github_event_type *find_event_type(struct str name)
{
    for (size_t i = 0; i < sizeof github_events / sizeof *github_events; i++)
        if (str_is(name, github_events[i].name))
            return &github_events[i];
    return NULL;
}

static const struct github_object *require_payload_object(struct form *form,
                                                          const struct github_payload *in,
                                                          size_t offset, const char *field)
{
    const struct github_object *o;
    struct json_path at = json_path_key(NULL, str_of(field));

    memcpy(&o, (const char *)in + offset, sizeof o);
    if (!o && !form_has_error_at_path(form, &at))
        form_add_error(form, &at, FORM_REQUIRED);
    return o;
}

/* Returns a title such as "[owner/name] Issue opened: #5 Title". */
static struct str format_event_title(struct arena *arena, const struct github_event_type *e,
                                     const struct github_payload *in,
                                     const struct github_object *about)
{
    struct str what = e->what ? str_of(e->what) : in->ref_type.value,
               did = e->did ? str_of(e->did) : in->action.value,
               name = e->what ? format_github_object_name(arena, about)
                              : strip_prefix_of_git_ref(in->ref.value);
    bool named = name.n && (about != in->repository || !e->what);
    struct str title = str_printf(
        arena, "[%.*s] %.*s %.*s%s%.*s", STR_ARGS(in->repository->full_name.value), STR_ARGS(what),
        STR_ARGS(did), named ? ": " : "", named ? (int)name.n : 0, name.p);

    return e->concluded ? str_printf(arena, "%.*s (%.*s)", STR_ARGS(title),
                                     STR_ARGS(about->conclusion.value))
                        : title;
}

static bool build_event_embed(struct form *form, const struct github_event_type *e,
                              const struct github_payload *in, struct embed *ret)
{
    const struct github_object *about = require_payload_object(form, in, e->about, e->about_field),
                               *said = require_payload_object(form, in, e->said, e->said_field);

    if (!about || !said)
        return true;
    if (e->concluded && !about->conclusion.value.n)
        return false;
    ret->title.value = format_event_title(form->arena, e, in, about);
    ret->url =
        embed_url_if_valid(said->html_url.value.n ? said->html_url : in->repository->html_url);
    if (said->body.value.n)
        ret->description = (struct opt_str){ GIVEN, truncate_text(form->arena, said->body.value,
                                                                  MAX_DESCRIPTION) };
    return true;
}

bool github_build_embed(struct form *form, struct str event, const struct github_payload *in,
                        struct embed *ret)
{
    const struct github_event_type *e = find_event_type(event);
    bool push = str_is(event, "push");

    *ret = (struct embed){ .title.given = GIVEN };
    if (!e && !push)
        return false;
    if (!require_payload_object(form, in, OBJECT(repository)))
        return true;
    ret->author = embed_author_of_sender(form->arena, in->sender);
    if (!(push ? build_push_embed(form->arena, in, ret) : build_event_embed(form, e, in, ret)))
        return false;
    ret->title.value = truncate_text(form->arena, ret->title.value, EMBED_MOST_TITLE);
    return true;
}
