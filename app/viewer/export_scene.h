// Results for other programs that draw: animated glTF 2.0 (GLB) and time series for ParaView.
#ifndef LASH_APP_VIEWER_EXPORT_SCENE_H
#define LASH_APP_VIEWER_EXPORT_SCENE_H

#include "app/viewer/scene.h"
#include "app/viewer/source.h"

#ifdef __cplusplus
extern "C" {
#endif

// One GLB file with at most `frames` key frames. False with error.
bool view_export_glb(ViewSource* source, const ViewScene* scene, const char* file, int frames,
                     LashError* error);
// FILE.pvd and, in a folder FILE_frames beside it, parts_00000.vtp and contacts_00000.vtp of at
// most `frames` times.
bool view_export_vtk(ViewSource* source, const ViewScene* scene, const char* file, int frames,
                     LashError* error);

// Frame number i of `wanted` that are spread over `there` frames, ends included.
int64_t view_export_frame(int64_t there, int wanted, int i);

#ifdef __cplusplus
}
#endif
#endif
