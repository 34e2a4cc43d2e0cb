// What client and helper exchange for a query; both run on one machine, from one build.
#ifndef LASH_GEOMETRY_OCCT_QUERY_WIRE_H
#define LASH_GEOMETRY_OCCT_QUERY_WIRE_H

#include <stdint.h>

typedef struct OcctSideRequest { // followed by the path, then the rows of the faces
    double scale;
    int32_t heal, path_bytes, count;
} OcctSideRequest;

typedef struct OcctOpenReply {
    int32_t ok;
    char message[480];
} OcctOpenReply;

typedef struct OcctPoseRequest { // two poses: position, quaternion (scalar first)
    double a[7], b[7];
} OcctPoseRequest;

typedef struct OcctDistanceReply {
    int32_t ok;
    double distance, a[3], b[3], seconds; // [m], [s]
} OcctDistanceReply;

#endif
