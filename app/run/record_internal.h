// What the writer and the reader of result files share. Only they see HDF5.
#ifndef LASH_APP_RECORD_INTERNAL_H
#define LASH_APP_RECORD_INTERNAL_H

#include <hdf5.h>

#include "app/run/record.h"

enum {
    RECORD_NAME_BYTES = 64,   // of a body or joint name in the file
    RECORD_BATCH = 64,        // frames of a chunk of a wide series; between two flushes at most
    RECORD_TIME_CHUNK = 1024, // frames of a chunk of a narrow one
    RECORD_TABLE_BATCH = 128, // rows of a table's chunk
    OF_LAYOUT = -1,
    RECORD_BUFFER = 16384 // bytes converted at once; more than one row of a table
};

typedef enum SeriesPer {
    PER_RUN,
    PER_BODY,
    PER_JOINT,
    PER_CONTACT,
    PER_SCHEME, // once, where the scheme has it
    PER_INPUT
} SeriesPer;
typedef struct SeriesSpec {
    const char *path, *unit;
    SeriesPer per;
    int width; // OF_LAYOUT: layout.coordinates
    bool integer;
} SeriesSpec;
extern const SeriesSpec record_spec[LASH_SERIES_COUNT];

// No messages of its own, and nothing at exit: after a full disk the library would try for ever.
void record_quiet_library(void);
// Type of a series in the file.
hid_t record_series_type(int series);
// Shape of a series in the file: (frames), (frames x bodies x 3), ...; returns its rank, shape[0]
// stays.
int record_series_shape(const LashRecordLayout* layout, int series, hsize_t* shape);
hid_t record_event_type(void); // one event as a compound; the caller closes it
hid_t record_point_type(void); // one contact point, the same
// How rows are moved; the caller closes it. By default the library clears 1 MB for every converted
// read or write, of however few rows.
hid_t record_transfer(void);

#endif
