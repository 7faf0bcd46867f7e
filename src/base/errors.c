/* errors.c - all API errors and HTTP reason phrases. */
#include "base/errors.h"

#include <assert.h>

static const struct error_info infos[] = {
    [OK] = { "OK", 200, 0, "" },
#define ERROR(name, status, code, message) { #name, status, code, message },
#include "base/errors.def"
#undef ERROR
};

const struct error_info *error_info(enum err e)
{
    assert(e > OK && e < ERR_COUNT);
    return &infos[e];
}

const char *http_reason_phrase(int status)
{
    switch (status) {
#define STATUS(number, reason) \
    case number:               \
        return reason;
        STATUS(100, "Continue")
        STATUS(101, "Switching Protocols")
        STATUS(200, "OK")
        STATUS(201, "Created")
        STATUS(204, "No Content")
        STATUS(206, "Partial Content")
        STATUS(302, "Found")
        STATUS(304, "Not Modified")
        STATUS(400, "Bad Request")
        STATUS(401, "Unauthorized")
        STATUS(403, "Forbidden")
        STATUS(404, "Not Found")
        STATUS(405, "Method Not Allowed")
        STATUS(408, "Request Timeout")
        STATUS(409, "Conflict")
        STATUS(411, "Length Required")
        STATUS(413, "Content Too Large")
        STATUS(414, "URI Too Long")
        STATUS(415, "Unsupported Media Type")
        STATUS(416, "Range Not Satisfiable")
        STATUS(417, "Expectation Failed")
        STATUS(426, "Upgrade Required")
        STATUS(429, "Too Many Requests")
        STATUS(431, "Request Header Fields Too Large")
        STATUS(500, "Internal Server Error")
        STATUS(501, "Not Implemented")
        STATUS(503, "Service Unavailable")
        STATUS(505, "HTTP Version Not Supported")
        STATUS(507, "Insufficient Storage")
#undef STATUS
    default:
        return "Unknown";
    }
}
