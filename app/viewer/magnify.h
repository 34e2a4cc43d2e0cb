// The clearance magnifier: shows the play of the joints larger than it is.
#ifndef LASH_APP_VIEWER_MAGNIFY_H
#define LASH_APP_VIEWER_MAGNIFY_H

#include "app/viewer/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ViewMagnifier ViewMagnifier;

// NULL when no joint of the model has clearance.
ViewMagnifier* view_magnifier_create(const LashModel* model);
void view_magnifier_destroy(ViewMagnifier* magnifier); // NULL is allowed

// Moves the bodies of a placed frame so that every displacement that play allows is shown `factor`
// times. False when the ideal positions could not be found: the frame is left as it is.
bool view_magnifier_apply(ViewMagnifier* magnifier, const ViewScene* scene, ViewFrame* frame,
                          double factor);

#ifdef __cplusplus
}
#endif
#endif
