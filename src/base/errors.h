/* errors.h - all API errors, defined in errors.def. */
#ifndef BASE_ERRORS_H
#define BASE_ERRORS_H

enum err {
    OK,
#define ERROR(name, status, code, message) ERR_##name,
#include "base/errors.def"
#undef ERROR
    ERR_COUNT
};

struct error_info {
    const char *name; /* "UNKNOWN_USER" */
    int status;       /* HTTP status */
    int code;         /* "code" in the response body */
    const char *message;
};

/* Returns the properties of an error. e must not be OK. */
const struct error_info *error_info(enum err e);

/* Returns a reason phrase such as "Not Found"; "Unknown" if the server never sends the status. */
const char *http_reason_phrase(int status);

#endif
