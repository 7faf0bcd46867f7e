/* github.h - what GitHub tells of, as far as it is shown. */
#ifndef PLATFORM_WEBHOOKS_GITHUB_H
#define PLATFORM_WEBHOOKS_GITHUB_H

#include "json/schema.h"
#include "platform/message_parts/embed.h"

/* An issue, a comment, a repository, a person: whatever has a name and a page. */
struct github_object {
    struct opt_int number;
    struct opt_str title, full_name, name, tag_name, head_branch, login, commit_id;
    struct opt_str html_url, avatar_url, body, conclusion;
};

struct github_commit {
    struct opt_str id, message, url;
    const struct github_object *author;
};

/* Which of them are there depends on the event. */
struct github_told {
    struct opt_str action, ref, ref_type, compare;
    const struct github_object *repository, *sender, *issue, *comment, *pull_request, *review,
        *release, *forkee, *member, *discussion, *check_run, *check_suite;
    struct list commits; /* struct github_commit */
};

/* --- github_events.c ------------------------------------------------------------------ */

/* Makes the card of an event. False: nothing is said of it. What it needs and is not there is
 * noted in the form. */
bool github_embed(struct form *form, struct str event, const struct github_told *in,
                  struct embed *ret);

#endif
