/* error_causes.h - usual causes and fixes of errors, defined in error_causes.def. */
#ifndef BASE_ERROR_CAUSES_H
#define BASE_ERROR_CAUSES_H

#include "base/buf.h"

struct error_cause {
    int code;                 /* as in the anchors of docs/errors.md */
    const char *causes, *fix; /* sentences */
};

/* Finds causes and fix of an API error by its JSON error code; if code is 0, by the HTTP status.
 * Returns false if none are known. */
bool find_causes_of_api_error(int status, int code, struct error_cause *ret);
/* Finds causes and fix of a close code of the gateway. Returns false if none are known. */
bool find_causes_of_gateway_close_code(int code, struct error_cause *ret);

/* Writes docs/errors.md. */
void write_error_reference(struct buf *out);

#endif
