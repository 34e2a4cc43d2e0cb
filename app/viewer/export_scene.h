// Results for other programs that draw: animated glTF 2.0 (GLB) and time series for ParaView.
#ifndef LASH_APP_VIEWER_EXPORT_SCENE_H
#define LASH_APP_VIEWER_EXPORT_SCENE_H

#include "app/viewer/scene.h"
#include "app/viewer/source.h"

#ifdef __cplusplus
extern "C" {
#endif

// Writes at most `frames` frames. False with error.
typedef bool ViewExport(ViewSource* source, const ViewScene* scene, const char* file, int frames,
                        LashError* error);
// One GLB file with key frames.
ViewExport view_export_glb;
// FILE.pvd and, in a folder FILE_frames beside it, parts_00000.vtp and contacts_00000.vtp.
ViewExport view_export_vtk;

// Frame number i of `wanted` that are spread over `there` frames, ends included.
int64_t view_export_frame(int64_t there, int wanted, int i);

#ifdef __cplusplus
}
#endif
#endif
