// Memory as bytes, in one order for all that is done with it: measured, written or read back.
//
// A module that remembers something writes one function that passes all of it, in a fixed order:
//
//     void predictor_archive(Predictor* predictor, LashArchive* archive) {
//         lash_archive(archive, predictor->difference, bytes);
//     }
//
// Runs of zeros take no room: what a run has reserved and does not use costs nothing.
#ifndef LASH_CORE_ARCHIVE_H
#define LASH_CORE_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum LashArchiveUse {
    LASH_ARCHIVE_MEASURES,
    LASH_ARCHIVE_WRITES,
    LASH_ARCHIVE_READS
} LashArchiveUse;

typedef struct LashArchive {
    LashArchiveUse use;
    char* memory; // (bytes) borrowed; NULL while it is measured, only looked at while it is read
    size_t bytes; // that there are
    size_t at;    // passed so far
    bool failed;  // reading: there are too few of them, or they do not fit
} LashArchive;

static inline bool lash_archive_reads(const LashArchive* archive) {
    return archive->use == LASH_ARCHIVE_READS;
}

// Data of so many bytes, which hold no addresses. Reading: becomes what was written; zero once the
// archive has failed.
void lash_archive(LashArchive* archive, void* data, size_t bytes);
// A number that decides about room: reading, one outside 0 .. most fails.
void lash_archive_count(LashArchive* archive, int* count, int most);

#ifdef __cplusplus
}
#endif
#endif
