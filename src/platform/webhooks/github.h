/* github.h - the fields of GitHub event payloads that embeds contain. */
#ifndef PLATFORM_WEBHOOKS_GITHUB_H
#define PLATFORM_WEBHOOKS_GITHUB_H

#include "json/schema.h"
#include "platform/message_parts/embed.h"

/* A GitHub object with a name and a URL: issue, comment, repository, user and others. */
struct github_object {
    struct opt_int number;
    struct opt_str title, full_name, name, tag_name, head_branch, login, commit_id;
    struct opt_str html_url, avatar_url, body, conclusion;
};

struct github_commit {
    struct opt_str id, message, url;
    const struct github_object *author;
};

/* Payload of a GitHub event; the event determines which fields are present. */
struct github_payload {
    struct opt_str action, ref, ref_type, compare;
    const struct github_object *repository, *sender, *issue, *comment, *pull_request, *review,
        *release, *forkee, *member, *discussion, *check_run, *check_suite;
    struct list commits; /* struct github_commit */
};

/* --- github_embeds.c ------------------------------------------------------------------ */

/* Builds the embed for a GitHub event. Returns false if there is no message for this event. Adds
 * form errors for missing required fields. */
bool github_build_embed(struct form *form, struct str event, const struct github_payload *in,
                        struct embed *ret);

#endif
