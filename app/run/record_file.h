// Result files in HDF5: checked reading, in this process. Type, shape and storage of everything are
// looked at before it is read; the library itself may still crash on bytes made to crash it, so
// that programs read through record.h, which does this in a process of its own.
#ifndef LASH_APP_RECORD_FILE_H
#define LASH_APP_RECORD_FILE_H

#include "app/run/record.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct RecordFile RecordFile;

// The open file `descriptor`; or, with descriptor < 0, the `bytes` bytes at image. head gets all
// but its file. NULL with error: damaged or no result.
RecordFile* record_file_open(int descriptor, const void* image, size_t bytes, LashRecord* head,
                             LashError* error);
void record_file_close(RecordFile* file); // NULL is allowed
void record_head_free(LashRecord* head);  // what record_file_open put there

// As those of record.h; the rows asked for exist.
bool record_file_series(RecordFile* file, LashSeries series, int64_t first, int64_t count,
                        double* values, LashError* error);
bool record_file_events(RecordFile* file, int64_t first, int64_t count, LashRecordEvent* events,
                        LashError* error);
bool record_file_points(RecordFile* file, int64_t first, int64_t count, LashRecordPoint* points,
                        LashError* error);

#ifdef __cplusplus
}
#endif
#endif
