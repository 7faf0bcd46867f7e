/* invoke.h - shared declarations of `guildhall invoke`.
 *
 *   invoke.c   authentication and sequence of steps (start here)
 *   steps.c    command, component press, form
 *   line.c     parses "/weather city:Oslo" into a request body
 *   places.c   finds channels, users and roles by name
 *   wait.c     gateway events of an invocation
 *   reason.c   why there was no reply
 *   show.c     output as text or JSON */
#ifndef TOOLS_INVOKE_INVOKE_H
#define TOOLS_INVOKE_INVOKE_H

#include "json/schema.h"
#include "model/fields/types.h"
#include "platform/message_parts/component.h"
#include "tools/tools.h"
#include "tools/wire/wire.h"

/* Exit status. */
enum invoke_status {
    INVOKE_ANSWERED = 0,
    INVOKE_TROUBLE = 1, /* no server, unknown account, … */
    INVOKE_USAGE = 2,   /* unknown command, option or channel */
    INVOKE_REFUSED = 3, /* refused by the server */
    INVOKE_FAILED = 4,  /* the app's reply is invalid */
    INVOKE_TIMED_OUT = 5,
};

enum { INVOKE_MOST_FILES = 25 };

struct invoke_run {
    const struct invoke_options *options;
    const struct config *config; /* data folder of the running server */
    struct arena *arena;
    struct wire *wire;
    snowflake channel_id, guild_id; /* guild 0: private channel */
    struct wire_file files[INVOKE_MOST_FILES];
    size_t file_count;
    bool answered; /* whether the app replied in the previous step */
    bool filled;   /* --- whether --fill was used for a form --- */
};

/* Sends a GET and decodes the response; returns NULL after printing an error. */
void *invoke_get(struct invoke_run *v, const struct type *type, const char *path);
/* Connects and authenticates with --as or --token; returns false after printing an error. The
 * caller frees the wire. */
bool invoke_enter(struct invoke_run *v, const struct config *config);
void invoke_leave(struct invoke_run *v);
bool invoke_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* --- places.c ------------------------------------------------------------------------- */

bool place_find(struct invoke_run *v);
/* Find an object by id, mention or name in the guild; return 0 after printing an error. */
snowflake person_named(struct invoke_run *v, struct str text);
snowflake role_named(struct invoke_run *v, struct str text);
snowflake mentionable_named(struct invoke_run *v, struct str text);
snowflake channel_named(struct invoke_run *v, struct str text);

/* --- line.c --------------------------------------------------------------------------- */

/* A pair key:value; quotes allow spaces. */
struct line_pair {
    struct str key, value;
    bool used;
};
bool line_pairs(struct invoke_run *v, const char *line, struct list *ret);

/* Parses a command line. *ret_data: data of the interaction; *ret_application: application of the
 * command. */
bool line_read(struct invoke_run *v, const char *line, snowflake *ret_application,
               struct str *ret_data);

/* --- wait.c --------------------------------------------------------------------------- */

struct told_user {
    snowflake id;
    struct str username;
    struct opt_str global_name;
};
/* Fields of a message that this tool uses; raw is the whole JSON. */
struct told_message {
    snowflake id;
    struct opt_id application_id;
    const struct told_user *author;
    struct str content, embeds, components, attachments; /* last three: JSON */
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
    const struct told_user *application; /* only the id is used */
    struct str raw;
};

/* Result of one step: command, autocomplete, press or form. */
struct step_outcome {
    const char *step; /* "command", "complete", "press", "fill" */
    enum invoke_status status;
    snowflake interaction_id; /* 0: the interaction was not created */
    snowflake pressed;        /* message with the pressed component; 0: none */
    const struct told_message *message;
    const struct told_modal *modal;
    struct list choices;    /* struct told_choice */
    struct list follow_ups; /* list of const struct told_message * */
    struct str choices_raw;
    bool acknowledged;
    const char *reason; /* why the app did not reply; NULL: unknown */
    int http_status;    /* HTTP status of a refusal */
    struct str refusal;
};
struct told_choice {
    struct str name, value; /* value: JSON */
    struct opt_str name_localized;
};

const struct told_message *message_told(struct invoke_run *v, struct str json);

void outcome_await(struct invoke_run *v, struct str nonce, struct step_outcome *out);

/* --- reason.c ------------------------------------------------------------------------- */

/* Finds in the running server's traffic log why there is no reply; NULL: unknown. A refused reply
 * sets INVOKE_FAILED, even if the server still waits for another one. */
const char *invoke_reason(struct invoke_run *v, struct step_outcome *out);

/* --- steps.c -------------------------------------------------------------------------- */

struct invoke_step {
    const char *name;
    int64_t type; /* interaction type */
    snowflake application_id;
    struct str data;                    /* JSON */
    const struct told_message *message; /* message that contains the component */
    snowflake pressed;                  /* its id, retained for a following form; 0: none */
};

/* Sends the interaction, waits and prints the result. */
struct step_outcome step_take(struct invoke_run *v, const struct invoke_step *s);
struct step_outcome step_press(struct invoke_run *v, const struct told_message *m);
/* If the step returned a form and --fill is set, submits the form. */
struct step_outcome step_fill(struct invoke_run *v, struct step_outcome before);
/* Returns the message of --message; NULL after printing an error. */
const struct told_message *message_named(struct invoke_run *v);

/* --- show.c --------------------------------------------------------------------------- */

/* Prints text, or with --json a line of JSON. */
void outcome_show(struct invoke_run *v, const struct step_outcome *out);

#endif
