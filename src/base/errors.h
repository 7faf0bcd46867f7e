/* errors.h - every way a call can fail, from errors.def. */
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
    int status;       /* HTTP */
    int code;         /* in the reply's body */
    const char *message;
};

/* For every err but OK. */
const struct error_info *error_info(enum err e);

/* "Not Found"; for codes we never send, "Unknown". */
const char *status_reason(int status);

#endif
