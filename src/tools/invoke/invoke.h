/* invoke.h - what the files of `guildhall invoke` share.
 *
 *   invoke.c         who, where, and which steps
 *   steps.c          a command, a press, a form
 *   line.c           from "/weather city:Oslo" to the body of a call
 *   places.c         names of channels, people and roles
 *   wait.c           what the gateway tells of an invocation
 *   reason.c         why there was no answer
 *   show.c           for people and for programs */
#ifndef TOOLS_INVOKE_INVOKE_H
#define TOOLS_INVOKE_INVOKE_H

#include "json/schema.h"
#include "model/fields/types.h"
#include "platform/message_parts/component.h"
#include "tools/tools.h"
#include "tools/wire/wire.h"

/* The program's status. */
enum invoke_status {
    INVOKE_ANSWERED = 0,
    INVOKE_TROUBLE = 1, /* no server, no such account … */
    INVOKE_USAGE = 2,   /* no such command, option or place */
    INVOKE_REFUSED = 3, /* by the server */
    INVOKE_FAILED = 4,  /* the app's answer was none */
    INVOKE_TIMED_OUT = 5,
};

enum { INVOKE_MOST_FILES = 25 };

struct invoke_run {
    const struct invoke_options *options;
    const struct config *config; /* where the server that runs is asked */
    struct arena *arena;
    struct wire *wire;
    snowflake channel_id, guild_id; /* guild 0: a private channel */
    struct wire_file files[INVOKE_MOST_FILES];
    size_t file_count;
    bool answered; /* by an app, in the step before */
    bool filled;   /* a form came, and --fill was for it */
};

/* Decodes the answer to a GET; NULL after having said why there is none. */
void *invoke_get(struct invoke_run *v, const struct type *type, const char *path);
/* Reaches the server as --as or --token says; false after having said why not. The wire is the
 * caller's to free. */
bool invoke_enter(struct invoke_run *v, const struct config *config);
/* Ends the token that --as was given. */
void invoke_leave(struct invoke_run *v);
/* Says what is wrong with what was asked; returns false. */
bool invoke_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* --- places.c ------------------------------------------------------------------------- */

/* --channel: sets channel_id and guild_id. */
bool place_find(struct invoke_run *v);
/* An id, a mention or a name of the guild's; 0 after having said that there is none. */
snowflake person_named(struct invoke_run *v, struct str text);
snowflake role_named(struct invoke_run *v, struct str text);
snowflake mentionable_named(struct invoke_run *v, struct str text);
snowflake channel_named(struct invoke_run *v, struct str text);

/* --- line.c --------------------------------------------------------------------------- */

/* key:value, with spaces in quotes. */
struct line_pair {
    struct str key, value;
    bool used;
};
/* The pairs of a line that has nothing else (--fill). */
bool line_pairs(struct invoke_run *v, const char *line, struct list *ret);

/* The body of the call that invokes a line: everything but nonce and session. *ret_data is
 * its data, *ret_application whose command it is. */
bool line_read(struct invoke_run *v, const char *line, snowflake *ret_application,
               struct str *ret_data);

/* --- wait.c --------------------------------------------------------------------------- */

struct told_user {
    snowflake id;
    struct str username;
    struct opt_str global_name;
};
/* What we look at of a message; raw is all of it. */
struct told_message {
    snowflake id;
    struct opt_id application_id;
    const struct told_user *author;
    struct str content, embeds, components, attachments; /* JSON but the first */
    int64_t flags;
    struct opt_str nonce;
    struct opt_object interaction_metadata; /* struct told_metadata */
    struct str raw;
};
struct told_metadata {
    snowflake id;
    struct opt_id original_response_message_id;
};
struct told_modal {
    snowflake id;
    struct str custom_id, title, components;
    const struct told_user *application; /* its id */
    struct str raw;
};

/* What one step comes to. */
struct step_outcome {
    const char *step; /* "command", "complete", "press", "fill" */
    enum invoke_status status;
    snowflake interaction_id; /* 0: it did not come so far */
    snowflake pressed;        /* the message whose component led here; 0: none */
    const struct told_message *message;
    const struct told_modal *modal;
    struct list choices;    /* struct told_choice */
    struct list follow_ups; /* const struct told_message * */
    struct str choices_raw;
    bool acknowledged;
    const char *reason; /* why the app did not answer; NULL: not known */
    int http_status;    /* of a refusal */
    struct str refusal;
};
struct told_choice {
    struct str name, value; /* value: JSON */
    struct opt_str name_localized;
};

const struct told_message *message_told(struct invoke_run *v, struct str json);

/* Waits for what was invoked with this nonce. */
void outcome_await(struct invoke_run *v, struct str nonce, struct step_outcome *out);

/* --- reason.c ------------------------------------------------------------------------- */

/* Why there is no answer, when the server that runs can tell; else NULL. An answer that was
 * refused is a failure, though the server went on to wait for another. */
const char *invoke_reason(struct invoke_run *v, struct step_outcome *out);

/* --- steps.c -------------------------------------------------------------------------- */

struct invoke_step {
    const char *name;
    int64_t type; /* of the interaction */
    snowflake application_id;
    struct str data;                    /* JSON */
    const struct told_message *message; /* whose component it is */
    snowflake pressed;                  /* the same, also before a form; 0: none */
};

/* Invokes it, waits, and shows what came of it. */
struct step_outcome step_take(struct invoke_run *v, const struct invoke_step *s);
/* --press, on this message. */
struct step_outcome step_press(struct invoke_run *v, const struct told_message *m);
/* A step that came to a form goes on where there is --fill. */
struct step_outcome step_fill(struct invoke_run *v, struct step_outcome before);
/* --message; NULL after having said that there is none. */
const struct told_message *message_named(struct invoke_run *v);

/* --- show.c --------------------------------------------------------------------------- */

/* For people, or with --json a line for programs. */
void outcome_show(struct invoke_run *v, const struct step_outcome *out);

#endif
