// Words of 8 bytes as they are; of zeros only their number:  zeros, words, the words, zeros, ...
// until all are there; what is left over, less than a word, follows.
#include "core/archive.h"

#include <string.h>

enum { WORD = 8 };

typedef struct Run { // so many zeros, then so many words that are written out
    uint32_t zeros, words;
} Run;

static void pass(LashArchive* archive, void* data, size_t bytes) {
    if (archive->use == LASH_ARCHIVE_WRITES) memcpy(archive->memory + archive->at, data, bytes);
    if (archive->use == LASH_ARCHIVE_READS) {
        archive->failed = archive->failed || bytes > archive->bytes - archive->at;
        if (archive->failed) return;
        memcpy(data, archive->memory + archive->at, bytes);
    }
    archive->at += bytes;
}

static bool is_zero(const char* word) {
    static const char zero[WORD];
    return memcmp(word, zero, WORD) == 0;
}

// The run that begins here; a single zero is not worth the end of one.
static Run run_at(const char* word, size_t count) {
    enum { MOST = 1 << 30 };
    Run run = {0, 0};
    size_t i = 0;
    for (; i < count && i < MOST && is_zero(word + WORD * i); ++i) ++run.zeros;
    for (; i < count && run.words < MOST; ++i) {
        bool ends = is_zero(word + WORD * i) && (i + 1 == count || is_zero(word + WORD * (i + 1)));
        if (ends) break;
        ++run.words;
    }
    return run;
}

void lash_archive(LashArchive* archive, void* data, size_t bytes) {
    char* at = data;
    bool reads = lash_archive_reads(archive);
    size_t left = bytes / WORD;
    if (reads && bytes > 0) memset(data, 0, bytes);
    while (left > 0 && !archive->failed) {
        Run run = {0, 0};
        if (!reads) run = run_at(at, left);
        pass(archive, &run, sizeof run);
        size_t words = (size_t)run.zeros + run.words;
        archive->failed = archive->failed || words == 0 || words > left;
        if (archive->failed) break;
        at += WORD * (size_t)run.zeros;
        pass(archive, at, WORD * (size_t)run.words);
        at += WORD * (size_t)run.words;
        left -= words;
    }
    if (!archive->failed && bytes % WORD > 0) pass(archive, at, bytes % WORD);
}

void lash_archive_count(LashArchive* archive, int* count, int most) {
    pass(archive, count, sizeof *count);
    if (!lash_archive_reads(archive)) return;
    archive->failed = archive->failed || *count < 0 || *count > most;
    if (archive->failed) *count = 0;
}
