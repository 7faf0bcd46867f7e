/* libpq.h - loads libpq, the PostgreSQL client library, at its first use: pq.finish is PQfinish,
 * and so on. */
#ifndef STORE_LIBPQ_H
#define STORE_LIBPQ_H

#include <libpq-fe.h>
#include <stdbool.h>

#define LIBPQ_FUNCTIONS(X) \
    X(clear)               \
    X(cmdStatus)           \
    X(cmdTuples)           \
    X(connectdbParams)     \
    X(consumeInput)        \
    X(enterPipelineMode)   \
    X(errorMessage)        \
    X(exitPipelineMode)    \
    X(finish)              \
    X(flush)               \
    X(freemem)             \
    X(ftype)               \
    X(getResult)           \
    X(getisnull)           \
    X(getlength)           \
    X(getvalue)            \
    X(isBusy)              \
    X(nfields)             \
    X(notifies)            \
    X(ntuples)             \
    X(pipelineSync)        \
    X(putCopyData)         \
    X(putCopyEnd)          \
    X(resultErrorField)    \
    X(resultErrorMessage)  \
    X(resultStatus)        \
    X(sendFlushRequest)    \
    X(sendPrepare)         \
    X(sendQuery)           \
    X(sendQueryParams)     \
    X(sendQueryPrepared)   \
    X(setNoticeProcessor)  \
    X(setSingleRowMode)    \
    X(setnonblocking)      \
    X(socket)              \
    X(sslStruct)           \
    X(status)              \
    X(unescapeBytea)

struct libpq {
#define X(name) __typeof__(PQ##name) *name;
    LIBPQ_FUNCTIONS(X)
#undef X
    /* Function SSL_pending of OpenSSL, for the pointer that pq.sslStruct returns. NULL if libpq
     * does not use OpenSSL. */
    int (*ssl_pending)(const void *tls);
};

extern struct libpq pq;

/* Loads libpq once; call it before any function of pq. Logs failures. */
bool load_libpq(void);

#endif
