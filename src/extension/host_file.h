/*
 * host_file.h: temporary files of the plain C layers (base/host.h), in the server.
 */
#ifndef NEARDUP_HOST_FILE_H
#define NEARDUP_HOST_FILE_H

#include "postgres.h"

#include "storage/buffile.h"

#include "base/host.h"

extern HostFile *host_file_wrap(BufFile *file);

#endif
